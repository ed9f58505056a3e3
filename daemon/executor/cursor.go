package executor

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Key returns the fields that identify a row of a kind: the declared key, or else the
// primary key or a unique index without nulls in the catalogue of the database. It is nil
// if none is proven.
func Key(ctx context.Context, from Database, kind *record.Kind) ([]int, error) {
	if declared := kind.KeyFields(); declared != nil {
		return declared, nil
	}
	s, err := from.Session(ctx, kind, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	columns, err := s.keys()
	return FindKey(columns, kind.ByColumn), err
}

// Unchecked returns the fields of a key that its table lets be null, although they are of the
// primary key: SQLite does.
func Unchecked(ctx context.Context, from Database, kind *record.Kind, key []int) ([]int, error) {
	s, err := from.Session(ctx, kind, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	columns, err := s.keys()
	var fields []int
	for _, c := range columns {
		if field, found := kind.ByColumn(c.Name); c.Unchecked && found && slices.Contains(key, field) {
			fields = append(fields, field)
		}
	}
	return fields, err
}

// KeyColumnsError returns an error if a kind has no proven key although the catalogue has one,
// because the values of its columns are compared in another way than its index does. It is nil
// if there is no such key.
func KeyColumnsError(ctx context.Context, from Database, kind *record.Kind) error {
	s, err := from.Session(ctx, kind, false)
	if err != nil {
		return err
	}
	defer s.close()
	columns, err := s.keys()
	if err != nil {
		return err
	}
	for _, c := range columns {
		field, found := kind.ByColumn(c.Name)
		if found && c.Texts {
			f := kind.Fields[field]
			return query.CursorError("has no effect here: the index of the key of %s distinguishes the texts of %s, such as 9 and 9.00, which are the same decimal. Declare the field as string or the column as %s COLLATE DEC, or use Skip and Take",
				kind.Name, f.Name, sqlite.DecimalType)
		}
	}
	return nil
}

// ColumnsOf returns the columns of a kind's table by field, as far as the database knows them.
func ColumnsOf(ctx context.Context, from Database, kind *record.Kind) ([]dialect.Column, error) {
	s, err := from.Session(ctx, kind, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	d, _ := s.table()
	return d.Columns, nil
}

// Leads reports whether an index of a kind's table, with all of its rows, starts with a field.
func Leads(ctx context.Context, from Database, kind *record.Kind, field int) (bool, error) {
	s, err := from.Session(ctx, kind, false)
	if err != nil {
		return false, err
	}
	defer s.close()
	columns, err := s.leading()
	return slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, kind.Fields[field].ColumnName()) }), err
}

const (
	maxKeyRows = 100_000          // in a table that is too large for the check
	keyLimit   = 10 * time.Second // of a statement that checks one
)

// KeyProblem returns why the declared key of a kind does not identify its rows, or was not
// checked. It is empty if no key is declared, or an index of the table proves it.
func KeyProblem(ctx context.Context, from Database, kind *record.Kind) (problem string, err error) {
	declared := kind.KeyFields()
	if declared == nil {
		return "", nil
	}
	s, err := from.Session(ctx, kind, false)
	if err != nil {
		return "", err
	}
	defer s.close()
	columns, err := s.keys()
	proven := FindKey(columns, func(column string) (int, bool) {
		field, found := kind.ByColumn(column)
		return field, found && slices.Contains(declared, field)
	})
	if err != nil || proven != nil {
		return "", err
	}
	d, table := s.table()
	top, limit := func(n int) string { return fmt.Sprint("TOP ", n, " ") }, func(int) string { return "" }
	if d.Page.TakeFirst {
		top, limit = limit, func(n int) string { return fmt.Sprint(" LIMIT ", n) }
	}
	types := []record.Type{record.Long}
	blobs := []record.BlobForm{""}
	var key, nulls []string
	for i, field := range declared {
		around := d.Column(field).Compared
		types, key = append(types, kind.Fields[field].Type), append(key, around.Before+string(d.Quote(nil, kind.Fields[field].ColumnName()))+around.After)
		blobs = append(blobs, kind.Fields[field].Blob)
		nulls = append(nulls, key[i]+" IS NULL")
	}
	list := strings.Join(key, ", ")
	size := fmt.Sprintf("SELECT %s FROM (SELECT %s1 AS one FROM %s%s) AS q", d.CountAll, top(maxKeyRows), table, limit(maxKeyRows))
	err = one(s, query.Statement{SQL: size, Types: types[:1]}, keyLimit, func(cells []row.Cell) {
		if cells[0].Int == maxKeyRows {
			problem = "the declared key was not checked: size"
		}
	})
	if err != nil || problem != "" {
		return problem, err
	}
	wrong := fmt.Sprintf("SELECT %s%s AS n, %s FROM %s GROUP BY %s HAVING %s > 1 OR %s ORDER BY n DESC%s", top(1), d.CountAll, list, table, list, d.CountAll, strings.Join(nulls, " OR "), limit(1))
	err = one(s, query.Statement{SQL: wrong, Types: types, Blobs: blobs}, keyLimit, func(cells []row.Cell) {
		values := make([]string, len(declared))
		for i, c := range cells[1:] {
			if values[i] = kind.Key[i] + " = null"; !c.Null {
				values[i] = kind.Key[i] + " = " + c.Text(types[i+1])
			}
		}
		problem = fmt.Sprintf("the declared key does not identify the rows: the number of rows with %s is %d; correct key in the file of the kind", strings.Join(values, ", "), cells[0].Int)
	})
	return problem, err
}

// FindKey returns the fields of the first index that has only fields and no nulls. field
// returns the field of a column.
func FindKey(columns []mssql.KeyColumn, field func(column string) (int, bool)) []int {
	for len(columns) > 0 {
		var key []int
		proven, rest := true, columns
		for len(rest) > 0 && rest[0].Index == columns[0].Index {
			at, found := field(rest[0].Name)
			key, proven, rest = append(key, at), proven && found && !rest[0].Nullable, rest[1:]
		}
		if proven {
			return key
		}
		columns = rest
	}
	return nil
}

// keys implements Session. The columns are known as long as those of the table are.
func (s *serverSession) keys() ([]mssql.KeyColumn, error) {
	if known := s.live.keys.Load(); known != nil {
		return *known, nil
	}
	columns, err := readFacts(s, s.conn.Keys)
	if err == nil {
		s.live.keys.Store(&columns)
	}
	return columns, err
}

// leading implements Session.
func (s *serverSession) leading() ([]string, error) { return readFacts(s, s.conn.Leading) }

// readFacts reads facts about the kind's table from the catalogue.
func readFacts[T any](s *serverSession, read func(context.Context, mssql.Table) ([]T, error)) ([]T, error) {
	s.guard.watch(s.conn.Abort, s.server.Limits().Row)
	s.guard.enter()
	all, err := read(s.ctx, s.source.Name)
	s.guard.leave()
	s.guard.stop()
	return all, s.classify(err)
}

// RowID is the index of an integer that is the primary key in a SQLite file, which has no
// index and is never null.
const RowID = -1

// keySQL selects the columns of the unique indexes of a table. Expressions have no name. SQLite
// lets the columns of a primary key be null, for which pages are checked: see pageable.
const keySQL = `SELECT -1, name, 0, 0 FROM pragma_table_info(?1) WHERE pk = 1 AND type = 'INTEGER' COLLATE NOCASE AND (SELECT MAX(pk) FROM pragma_table_info(?1)) = 1
UNION ALL SELECT * FROM (SELECT i.seq, coalesce(c.name, ''), coalesce(t."notnull", 0) = 0 AND i.origin <> 'pk', coalesce(t."notnull", 0) = 0 AND i.origin = 'pk' FROM pragma_index_list(?1) i JOIN pragma_index_info(i.name) c LEFT JOIN pragma_table_info(?1) t ON t.cid = c.cid
WHERE i."unique" AND NOT i.partial ORDER BY i.origin <> 'pk', i.seq, c.seqno)`

// FileKeys returns the columns of the unique indexes of a table in a SQLite file, those of
// the primary key first.
func FileKeys(conn *sqlite.Conn, table string) (all []mssql.KeyColumn, err error) {
	err = conn.Query(keySQL, func(r *sqlite.Stmt) error {
		all = append(all, mssql.KeyColumn{Index: r.Int(0), Name: r.Text(1), Nullable: r.Int(2) != 0, Unchecked: r.Int(3) != 0})
		return nil
	}, table)
	return all, err
}

// keys implements Session.
func (s *fileSession) keys() ([]mssql.KeyColumn, error) {
	columns, err := FileKeys(s.conn, s.file.Name(s.kind))
	for i, c := range columns {
		if field, found := s.kind.ByColumn(c.Name); found && s.dialect.Column(field).Compared != (dialect.Cast{}) {
			columns[i].Texts = !c.Nullable
			columns[i].Nullable = true // not proven: different texts such as 9 and 9.00 are equal
		}
	}
	return columns, s.classify(err)
}

// fileLeading selects the first columns of the indexes of a table with all of its rows.
const fileLeading = `SELECT c.name FROM pragma_index_list(?1) i JOIN pragma_index_info(i.name) c WHERE NOT i.partial AND c.seqno = 0 AND c.name IS NOT NULL`

// FileLeading returns the first columns of the indexes of a table in a SQLite file that have
// all of its rows.
func FileLeading(conn *sqlite.Conn, table string) (names []string, err error) {
	err = conn.Query(fileLeading, func(r *sqlite.Stmt) error {
		names = append(names, r.Text(0))
		return nil
	}, table)
	return names, err
}

// leading implements Session.
func (s *fileSession) leading() ([]string, error) {
	names, err := FileLeading(s.conn, s.file.Name(s.kind))
	return names, s.classify(err)
}

// pageRows reads a page by cursor: the rows of its parts, one after the other, and the row
// after the page, if there is one.
type pageRows struct {
	row.Source // of the current part
	result     *Result
	parts      []query.Plan // that have not been started
	positions  []int        // columns of the order's fields
	left       int64        // rows of the page that have not been read; negative for all
	last       []query.Position
	current    []row.Cell // of the row that was returned, with those of the order
	more       bool
}

func newPageRows(r *Result, parts []query.Plan, positions []int) (row.Source, error) {
	p := &pageRows{result: r, parts: parts, positions: positions, left: r.plan.Take}
	if err := r.session.pageable(r.plan); err != nil {
		return nil, err
	}
	return p, p.start()
}

// start starts the next part. If it fails, Next returns the error each time.
func (p *pageRows) start() error {
	part := &p.parts[0]
	p.parts = p.parts[1:]
	if p.left >= 0 {
		part.Take = p.left + 1
	}
	source, err := p.result.run(part)
	if err != nil {
		source = failedRows{err}
	}
	p.Source = source
	return err
}

// failedRows are the rows of a statement that did not start.
type failedRows struct{ err error }

// Next implements row.Source.
func (r failedRows) Next() ([]row.Cell, error) { return nil, r.err }

// Close implements row.Source.
func (failedRows) Close() error { return nil }

// Next implements row.Source.
func (p *pageRows) Next() ([]row.Cell, error) {
	cells, err := p.Source.Next()
	for err == nil && cells == nil && len(p.parts) > 0 {
		p.Source.Close()
		if err = p.start(); err == nil {
			cells, err = p.Source.Next()
		}
	}
	if err != nil || cells == nil {
		return nil, err
	}
	plan := p.result.plan
	if p.more = p.left == 0; p.more {
		if plan.Place.Proven == nil && same(p.position(cells), p.last) {
			return nil, keyError(plan.Kind)
		}
		return nil, nil
	}
	if p.left--; p.left == 0 {
		if p.last = p.position(cells); same(p.last, plan.Place.After) {
			return nil, typeError(plan)
		}
	}
	p.current = cells
	if field, isNull := p.nullKey(cells); isNull {
		return nil, nullKeyError(plan.Kind, plan.Kind.Fields[field].ColumnName(), p.result.Position())
	}
	return cells[:len(plan.Columns)], nil
}

// nullKey returns a field of the key that is null in a row, which the first read of the page
// looks for in the first field only.
func (p *pageRows) nullKey(cells []row.Cell) (field int, isNull bool) {
	place := p.result.plan.Place
	for _, field := range place.Unchecked {
		i := slices.IndexFunc(place.Order, func(o query.Order) bool { return o.Field == field })
		if c := cells[p.positions[i]]; c.Null && c.Class == row.ClassOfType {
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

func same(a, b []query.Position) bool {
	return slices.EqualFunc(a, b, func(a, b query.Position) bool {
		return a.Null == b.Null && a.Class == b.Class && a.Int == b.Int && bytes.Equal(a.Data, b.Data)
	})
}

// next returns the cursor of the next page, empty if there is none.
func (r *Result) next() string {
	if p, is := r.rows.(*pageRows); is && p.more {
		return r.plan.Place.Next(p.last)
	}
	return ""
}

// keyError is the error of pages that end between rows of the same key: the next one would
// lack the others.
func keyError(kind *record.Kind) error {
	return fault.New(fault.Invalid, "the rows cannot be read by %s: the declared key %s of %s is not unique; correct key of the record kind", query.Cursor, strings.Join(kind.Key, ", "), kind.Name)
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
	return fault.New(fault.Invalid, "the rows cannot be read by %s in the order of %s: a column holds values of another type than its field", query.Cursor, strings.Join(columns, ", "))
}

// pageable implements Session. The file compares values with a position as it sorts them. Where
// it lets the first column of a primary key be null, the index of the key finds a row that
// has no key.
func (s *fileSession) pageable(plan *query.Plan) error {
	unchecked := plan.Place.Unchecked
	if len(unchecked) == 0 {
		return nil
	}
	columns, err := s.keys()
	if err != nil {
		return err
	}
	isFirst := len(columns) > 0 && strings.EqualFold(columns[0].Name, s.kind.Fields[unchecked[0]].ColumnName())
	if !isFirst {
		return nil // no index finds a null; the rows of the page are checked
	}
	column := plan.Kind.Fields[unchecked[0]].ColumnName()
	row := ""
	first := fmt.Sprintf("SELECT * FROM %s WHERE %s IS NULL LIMIT 1", s.file.Table(s.kind), sqlite.Quote(column))
	err = s.conn.Query(first, func(r *sqlite.Stmt) error {
		row = describeRow(r)
		return nil
	})
	if err == nil && row != "" {
		return nullKeyError(s.kind, column, row)
	}
	return s.classify(err)
}

// maxRowText is the maximum length of the description of a row in a message.
const maxRowText = 200

// describeRow returns the values of a row, of a long one the first.
func describeRow(r *sqlite.Stmt) string {
	var values []string
	length := 0
	for i := range r.Columns() {
		value := "null"
		if !r.Null(i) {
			value = strings.ToValidUTF8(r.Text(i), "\uFFFD")
		}
		length += len(value)
		if length > maxRowText {
			return strings.Join(values, ", ") + ", ..."
		}
		values = append(values, value)
	}
	return strings.Join(values, ", ")
}

// nullKeyError is the error of pages of a table with a row that has no key.
func nullKeyError(kind *record.Kind, column, row string) error {
	return query.CursorError("has no effect for %s while a row has a null in column %s of its primary key: (%s). Correct or delete the row, or use Skip and Take", kind.Name, column, row)
}

// pageable implements Session.
func (s *serverSession) pageable(plan *query.Plan) error {
	for i, at := range plan.Place.After {
		field := plan.Place.Order[i].Field
		c := s.live.ByField[field]
		if s.source.Kind.Fields[field].Type == record.Text && !c.ComparesAsSorted(string(at.Data)) {
			return query.CursorError("cannot continue in the order of %s: its column %s has the collation %s, and the last row of the page before has a text that the server compares in another way than it sorts. Use Skip and Take", s.source.Kind.Fields[field].Name, c.Name, c.Collation)
		}
	}
	return nil
}
