package executor

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/sqlite"
)

// dialectOf returns the dialect of a kind's table. That of another program's table has its
// columns; it is cached like the result of isOwn.
func (f *File) dialectOf(conn *sqlite.Conn, kind *record.Kind, own bool) (*dialect.Dialect, error) {
	switch cached, known := f.others.Load(kind); {
	case own:
		return f.indexed, nil
	case kind.Database != record.RecordsDB:
		return f.dialect, nil
	case known:
		return cached.(*dialect.Dialect), nil
	}
	columns, err := conn.Columns(f.Name(kind))
	if err != nil || len(columns) == 0 { // a missing table may be created later
		return f.dialect, err
	}
	d := *f.dialect
	d.Columns = make([]dialect.Column, len(kind.Fields))
	for _, c := range columns {
		if field, found := kind.ByColumn(c.Name); found {
			d.Columns[field].Compared = compared(kind.Fields[field].Type.Stored(), c.Type)
		}
	}
	f.others.Store(kind, &d)
	return &d, nil
}

// compared returns the text around a column that makes SQLite compare its values as numbers. It
// compares numbers that are stored as text by their characters, unless the column has
// our collation, and sorts a number in a column without a type, such as an expression in a
// view, before every text, as which decimals are bound.
func compared(t record.Type, declared string) dialect.Cast {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(strings.ToLower(declared), part) })
	}
	text := !has("int") && has("char", "clob", "text")
	switch decimal := t == record.Decimal; {
	case text && (decimal || t.Integer()):
		return dialect.Cast{After: " COLLATE DEC"}
	case text && t == record.Double:
		return dialect.Cast{Before: "CAST(", After: " AS REAL)"}
	case decimal && (declared == "" || has("blob") && !has("int")):
		return dialect.Cast{Before: "CAST(", After: " AS TEXT) COLLATE DEC"}
	}
	return dialect.Cast{}
}
