package executor

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// pageRows reads a page by cursor: the rows of its parts, one after the other, and the row
// after the page, if there is one.
type pageRows struct {
	row.Source // source of the current part
	result     *Result
	part       pagePart         // current part
	parts      []query.Plan     // parts that have not been started
	positions  []int            // columns of the order's fields
	remaining  int64            // rows of the page that have not been read; negative for all rows
	last       []query.Position // position of the last row of the page
	current    []row.Cell       // cells of the row that was returned, with those of the order
	hasMore    bool             // a row follows the page
}

// pagePart is a part of a page. A server may read the keys of its rows and the rows themselves at
// different times: if rows vanish in between, it returns too few.
type pagePart struct {
	plan       query.Plan       // as it is read
	rows       int64            // number of rows that have been read
	last       []query.Position // position of the last one; nil before it, or if no rows can vanish
	mayLack    bool             // rows can vanish
	emptyReads int              // reads of its rows in a row that found keys, but no row
}

// isShort reports whether a part has fewer rows than its plan allows.
func (p *pagePart) isShort() bool { return p.rows < p.plan.Take }

func newPageRows(r *Result, parts []query.Plan, positions []int) (row.Source, error) {
	p := &pageRows{result: r, parts: parts, positions: positions, remaining: r.plan.Take}
	if err := r.session.pageable(r.plan); err != nil {
		return nil, err
	}
	return p, p.start()
}

// start starts the next part. If it fails, Next returns the error each time.
func (p *pageRows) start() error {
	part := p.limited(p.parts[0])
	p.parts = p.parts[1:]
	emptyReads := p.part.emptyReads
	p.part = pagePart{
		plan:    *part,
		mayLack: part.PageKeys != nil && p.remaining >= 0 && !p.result.session.consistent(),
	}
	if p.part.mayLack { // a read without keys ends those of its part of the order
		p.part.emptyReads = emptyReads
	}
	source, err := p.result.run(part)
	if err != nil {
		source = failedRows{err}
	}
	p.Source = source
	return err
}

// limited returns the plan of a part for the rest of the page, by its keys if that is faster.
func (p *pageRows) limited(part query.Plan) *query.Plan {
	if p.remaining >= 0 {
		part.Take = p.remaining + 1
	}
	if part.FasterPart != nil {
		return part.FasterPart(&part)
	}
	return &part
}

// failedRows are the rows of a statement that did not start; without an error, none.
type failedRows struct{ err error }

func (r failedRows) Next() ([]row.Cell, error) { return nil, r.err }

func (failedRows) Close() error { return nil }

func (p *pageRows) Next() ([]row.Cell, error) {
	cells, err := p.nextRow()
	if err != nil || cells == nil {
		return nil, err
	}
	if p.remaining == 0 {
		return nil, p.endOfPage(cells)
	}

	plan := p.result.plan
	p.remaining--
	if p.remaining == 0 {
		p.last = p.position(cells)
		if samePositions(p.last, plan.Place.After) {
			return nil, typeError(plan)
		}
	}
	p.current = cells
	if p.part.mayLack {
		p.part.last = p.position(cells)
	}
	if field, isNull := p.nullKey(cells); isNull {
		return nil, nullKeyError(plan.Kind, plan.Kind.Fields[field].ColumnName(), p.result.Position())
	}
	return cells[:len(plan.Columns)], nil
}

// nextRow returns the next row of the parts, nil after the last one.
func (p *pageRows) nextRow() ([]row.Cell, error) {
	for {
		cells, err := p.Source.Next()
		if err != nil {
			return nil, err
		}
		if cells != nil {
			p.part.rows++
			return cells, nil
		}
		if p.part.mayLack && p.part.isShort() {
			err = p.addLacking()
			if err != nil {
				return nil, err
			}
		}
		if len(p.parts) == 0 {
			return nil, nil
		}
		p.Source.Close() // since a session runs one statement at a time
		err = p.start()
		if err != nil {
			return nil, err
		}
	}
}

// addLacking adds the parts of the rows that follow in the current part, if there are any: those of
// its statement have vanished. Without them, the page would look like the last one. If it fails, Next
// returns the error each time.
func (p *pageRows) addLacking() error {
	p.Source.Close() // since a session runs one statement at a time
	p.Source = failedRows{}
	p.part.mayLack = false // from now on, it has no more rows
	following := p.following()
	hasKeys, err := p.hasKeys(following)
	if err != nil {
		p.Source = failedRows{err}
		return err
	}
	p.part.emptyReads++
	if p.part.rows > 0 || !hasKeys {
		p.part.emptyReads = 0
	}
	if !hasKeys {
		return nil
	}
	if p.part.emptyReads >= MaxAttempts { // rows vanish all the time: they are read without their keys
		for i := range following {
			following[i].FasterPart = nil
		}
	}
	p.parts = slices.Concat(following, p.parts)
	return nil
}

// following returns the parts of the rows after the last one of the current part.
func (p *pageRows) following() []query.Plan {
	part := p.part.plan
	part.PageKeys = nil
	if p.part.rows == 0 {
		return []query.Plan{part}
	}
	place := *p.result.plan.Place
	place.After = p.part.last
	parts, _ := place.Parts(part)
	return parts
}

// hasKeys reports whether parts of a page have keys of rows, or are read without them.
func (p *pageRows) hasKeys(parts []query.Plan) (bool, error) {
	for _, part := range parts {
		limited := p.limited(part)
		if limited.PageKeys == nil {
			return true, nil
		}
		st, err := p.result.compile(limited, query.CompileKeyCount)
		if err != nil {
			return false, err
		}
		keys := int64(0)
		err = readRow(p.result.session, st, p.result.limits().Row, func(cells []row.Cell) {
			keys = cells[0].Int
		})
		if err != nil || keys > 0 {
			return keys > 0, err
		}
	}
	return false, nil
}

// endOfPage ends a page that is followed by a row.
func (p *pageRows) endOfPage(next []row.Cell) error {
	p.hasMore = true
	plan := p.result.plan
	if plan.Place.Proven == nil && samePositions(p.position(next), p.last) {
		return keyError(plan.Kind)
	}
	return nil
}

// nullKey returns a field of the key that is null in a row, false if there is none. Before the first
// row, pageable has looked for nulls in the first column of the index only.
func (p *pageRows) nullKey(cells []row.Cell) (int, bool) {
	place := p.result.plan.Place
	for _, field := range place.Unchecked {
		i := slices.IndexFunc(place.Order, func(o query.Order) bool { return o.Field == field })
		cell := cells[p.positions[i]]
		if cell.Null && cell.Class == row.ClassOfType {
			return field, true
		}
	}
	return 0, false
}

// position returns the position of a row in the order.
func (p *pageRows) position(cells []row.Cell) []query.Position {
	positions := make([]query.Position, len(p.positions))
	plan := p.result.plan
	for i, column := range p.positions {
		positions[i] = query.PositionOf(cells[column], plan.Kind.Fields[plan.Order[i].Field])
	}
	return positions
}

func samePositions(a, b []query.Position) bool {
	return slices.EqualFunc(a, b, func(a, b query.Position) bool {
		return a.Null == b.Null && a.Class == b.Class && a.Int == b.Int && bytes.Equal(a.Data, b.Data)
	})
}

// next returns the cursor of the next page, empty if there is none.
func (r *Result) next() string {
	if p, isPage := r.rows.(*pageRows); isPage && p.hasMore {
		return r.plan.Place.Next(p.last)
	}
	return ""
}

// keyError is the error of pages that end between rows of the same key: the next one would
// lack the others.
func keyError(kind *record.Kind) error {
	return fault.New(fault.Invalid,
		"the rows cannot be read by %s: the declared key %s of %s is not unique; correct the key in the record kind",
		query.Cursor, strings.Join(kind.Key, ", "), kind.Name)
}

// typeError is the error of a page that ends with the same row as the one before: the database
// sorts values in another way than it compares them with the row, as SQLite does with those of
// a view that joins columns of several types by UNION.
func typeError(plan *query.Plan) error {
	var columns []string
	for _, o := range plan.Order {
		f := &plan.Kind.Fields[o.Field]
		columns = append(columns, f.Name+" (column "+f.ColumnName()+")")
	}
	return fault.New(fault.Invalid,
		"the rows cannot be read by %s in the order of %s: a column holds values of another type than its field",
		query.Cursor, strings.Join(columns, ", "))
}

// pageable rejects pages of a table with a row that has no key, if the index of the key finds one:
// a file may let the first column of a primary key be null. It compares values with a position
// as it sorts them.
func (s *fileSession) pageable(plan *query.Plan) error {
	unchecked := plan.Place.Unchecked
	if len(unchecked) == 0 {
		return nil
	}
	columns, err := s.keys()
	if err != nil {
		return err
	}
	column := plan.Kind.Fields[unchecked[0]].ColumnName()
	isFirst := len(columns) > 0 && strings.EqualFold(columns[0].Name, column)
	if !isFirst {
		return nil // no index finds a null; the rows of the page are checked
	}
	described := ""
	first := fmt.Sprintf("SELECT * FROM %s WHERE %s IS NULL LIMIT 1", s.source.quoted, sqlite.Quote(column))
	err = s.conn.Query(first, func(r *sqlite.Stmt) error {
		described = describeRow(r)
		return nil
	})
	if err == nil && described != "" {
		return nullKeyError(s.source.kind, column, described)
	}
	return s.classify(err)
}

// maxRowText is the maximum length of the description of a row in a message.
const maxRowText = 200

// describeRow returns the values of a row; if they are longer than maxRowText, only the first ones, and
// of a first value that is too long its start.
func describeRow(r *sqlite.Stmt) string {
	var values []string
	length := 0
	for i := range r.Columns() {
		value := "null"
		if !r.Null(i) {
			value = strings.ToValidUTF8(r.Text(i), "\uFFFD")
		}
		length += len(value)
		if len(values) == 0 && length > maxRowText {
			return strings.ToValidUTF8(value[:maxRowText], "") + "..." // without half a character
		}
		if length > maxRowText {
			return strings.Join(values, ", ") + ", ..."
		}
		values = append(values, value)
	}
	return strings.Join(values, ", ")
}

// nullKeyError is the error of pages of a table with a row that has no key. The row is described by
// describeRow.
func nullKeyError(kind *record.Kind, column, described string) error {
	return query.CursorError("has no effect for %s while a row has a null in column %s of its primary key: (%s). "+
		"Correct or delete the row, or use Skip and Take", kind.Name, column, described)
}

func (s *serverSession) pageable(plan *query.Plan) error {
	for i, position := range plan.Place.After {
		index := plan.Place.Order[i].Field
		field := s.source.Kind.Fields[index]
		c := s.live.ByField[index]
		if field.Type == record.Text && !c.ComparesAsSorted(string(position.Data)) {
			return query.CursorError("cannot continue in the order of %s: its column %s has the collation %s, "+
				"and the last row of the page before has a text that the server compares in another way than it sorts. "+
				"Use Skip and Take", field.Name, c.Name, c.Collation)
		}
	}
	return nil
}
