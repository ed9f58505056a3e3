package executor

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
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
	return s.key()
}

// findKey returns the fields of the first index that has only fields and no nulls.
func findKey(kind *record.Kind, columns []mssql.KeyColumn) []int {
	for len(columns) > 0 {
		var key []int
		n, proven := 0, true
		for _, c := range columns {
			if c.Index != columns[0].Index {
				break
			}
			field, found := kind.ByColumn(c.Name)
			proven = proven && found && !c.Nullable
			key = append(key, field)
			n++
		}
		if proven {
			return key
		}
		columns = columns[n:]
	}
	return nil
}

// key implements Session. The key is known as long as the columns are.
func (s *serverSession) key() ([]int, error) {
	if known := s.live.key.Load(); known != nil {
		return *known, nil
	}
	s.guard.watch(s.conn.Abort, s.server.Limits().Row)
	s.guard.enter()
	columns, err := s.conn.Keys(s.ctx, s.source.Name)
	s.guard.leave()
	s.guard.stop()
	if err != nil {
		return nil, s.classify(err)
	}
	key := findKey(s.source.Kind, columns)
	s.live.key.Store(&key)
	return key, nil
}

// keySQL selects the columns of the unique indexes of a table. An integer that is the
// primary key has no index, and is never null. Expressions have no name.
const keySQL = `SELECT -1, name, 0 FROM pragma_table_info(?1) WHERE pk = 1 AND type = 'INTEGER' COLLATE NOCASE AND (SELECT MAX(pk) FROM pragma_table_info(?1)) = 1
UNION ALL SELECT * FROM (SELECT i.seq, coalesce(c.name, ''), coalesce(t."notnull", 0) = 0 FROM pragma_index_list(?1) i JOIN pragma_index_info(i.name) c LEFT JOIN pragma_table_info(?1) t ON t.cid = c.cid
WHERE i."unique" AND NOT i.partial ORDER BY i.origin <> 'pk', i.seq, c.seqno)`

// key implements Session.
func (s *fileSession) key() ([]int, error) {
	var columns []mssql.KeyColumn
	err := s.conn.Query(keySQL, func(r *sqlite.Stmt) error {
		columns = append(columns, mssql.KeyColumn{Index: r.Int(0), Name: r.Text(1), Nullable: r.Int(2) != 0})
		return nil
	}, s.file.Name(s.kind))
	return findKey(s.kind, columns), s.classify(err)
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
	more       bool
}

func newPageRows(r *Result, parts []query.Plan, positions []int) (row.Source, error) {
	p := &pageRows{result: r, parts: parts, positions: positions, left: r.plan.Take}
	if s, isFile := r.session.(*fileSession); isFile {
		if err := s.untyped(r.plan); err != nil {
			return nil, err
		}
	}
	return p, p.start()
}

// start starts the next part.
func (p *pageRows) start() (err error) {
	part := &p.parts[0]
	p.parts = p.parts[1:]
	if p.left >= 0 {
		part.Take = p.left + 1
	}
	p.Source, err = p.result.run(part)
	return err
}

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
	return cells[:len(plan.Columns)], nil
}

// position returns the position of a row in the order.
func (p *pageRows) position(cells []row.Cell) []query.Position {
	row := make([]query.Position, len(p.positions))
	for i, column := range p.positions {
		c := cells[column]
		row[i] = query.Position{Null: c.Null, Int: c.Int}
		if t := p.result.plan.Kind.Fields[p.result.plan.Order[i].Field].Type.Stored(); c.Null || !t.Integer() && t != record.Bool {
			row[i] = query.Position{Null: c.Null, Data: bytes.Clone(c.Data)}
		}
	}
	return row
}

func same(a, b []query.Position) bool {
	return slices.EqualFunc(a, b, func(a, b query.Position) bool {
		return a.Null == b.Null && a.Int == b.Int && (a.Null || bytes.Equal(a.Data, b.Data))
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

// typeError is the error of a page that ends with the same row as the one before. The
// database sorts values of other types in another way than it compares them with the row.
func typeError(plan *query.Plan) error {
	var columns []string
	for _, o := range plan.Order {
		f := &plan.Kind.Fields[o.Field]
		columns = append(columns, f.Name+" (column "+f.ColumnName()+")")
	}
	return fault.New(fault.Invalid, "the rows cannot be read by %s in the order of %s: a column holds values of another type than its field", query.Cursor, strings.Join(columns, ", "))
}

// untyped rejects an order by columns without a type, as those of expressions in a view:
// SQLite does not convert the last row's values when it compares them with the column.
func (s *fileSession) untyped(plan *query.Plan) error {
	if s.own || s.kind.Database != record.RecordsDB {
		return nil
	}
	var without []string
	err := s.conn.Query("SELECT name FROM pragma_table_info(?1) WHERE type = ''", func(r *sqlite.Stmt) error {
		without = append(without, r.Text(0))
		return nil
	}, s.file.Name(s.kind))
	for _, o := range plan.Order {
		f := &s.kind.Fields[o.Field]
		if slices.ContainsFunc(without, func(name string) bool { return strings.EqualFold(name, f.ColumnName()) }) {
			e := fault.New(fault.Invalid, "%s has no effect in the order of %s: its column %s has no type in the database. Use Skip and Take, or give it a type, with CAST in a view", query.Cursor, f.Name, f.ColumnName())
			e.Fields = []fault.Field{{Name: query.Cursor, Message: strings.TrimPrefix(e.Message, query.Cursor+" ")}}
			return e
		}
	}
	return s.classify(err)
}
