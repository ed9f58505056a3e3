package executor

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/sqlite"
)

// dialectOf returns the dialect of a table. For the table of another program, it knows the
// affinities of the columns, and which decimals it must convert to compare them.
func (f *File) dialectOf(conn *sqlite.Conn, table *fileTable) (*dialect.Dialect, error) {
	isOwn, err := f.owns(conn, table)
	if err != nil {
		return nil, err
	}
	if isOwn {
		return f.ownDialect(conn, table)
	}
	kind := table.kind
	if kind.Database != record.RecordsDB {
		return f.dialect, nil
	}
	facts, err := table.read(conn)
	if err != nil {
		return nil, err
	}
	d := *f.dialect
	d.File.Typed = true
	d.File.RowID = facts.rowID
	d.Columns = make([]dialect.Column, len(kind.Fields))
	for _, c := range facts.columns {
		field, found := kind.ByColumn(c.Name)
		if !found {
			continue
		}
		affinity := sqlite.Affinity(c.Type)
		if affinity == "blob" {
			affinity = "none" // nothing is converted, either
		}
		d.Columns[field].Affinity = affinity
		if kind.Fields[field].Type == record.Decimal && !facts.decimal[c.Name] {
			d.Columns[field].Compared = comparedDecimal[affinity]
		}
	}
	return &d, nil
}

// ownDialect returns the dialect of one of our own tables. It is determined once: these tables do not
// change, and reading the version of the schema takes a part of the time of a short page.
func (f *File) ownDialect(conn *sqlite.Conn, table *fileTable) (*dialect.Dialect, error) {
	if d := table.own.Load(); d != nil {
		return d, nil
	}
	facts, err := table.read(conn)
	if err != nil {
		return nil, err
	}
	d := *f.indexed
	d.File.RowID = facts.rowID
	table.own.Store(&d)
	return &d, nil
}

// comparedDecimal has the SQL around a column of decimals that makes SQLite compare them by their
// values, keyed by the affinity of the column. SQLite would compare texts by their characters, and
// sort the numbers in a column without a type, such as an expression in a view, before texts, as
// which decimals are bound.
var comparedDecimal = map[string]dialect.Cast{
	"text": {After: " COLLATE DEC"},
	"none": {Before: "dec_text(", After: ") COLLATE DEC"},
}
