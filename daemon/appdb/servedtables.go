package appdb

import (
	"context"
	"database/sql"

	"github.com/bizhook/whd/daemon/executor"
)

// ServedTable is a table of the ERP that has been served.
type ServedTable struct {
	Name   string // name of its record kind, or of the table of bills
	IsGone bool   // an administrator has accepted that it no longer exists
}

// ServedTables returns the tables of the ERP that have been served.
func (o *DB) ServedTables(ctx context.Context) ([]ServedTable, error) {
	scan := func(row Row) (t ServedTable, err error) {
		err = row.Scan(&t.Name, &t.IsGone)
		return t, err
	}
	tables, err := QueryAll(ctx, o, scan, `SELECT Name, IsGone FROM whd.WH_ServedTable ORDER BY Name`)
	return tables, o.Fault(err, "reading the served tables")
}

// PutServedTable adds or replaces a table.
func (o *DB) PutServedTable(ctx context.Context, t ServedTable) error {
	name := sql.Named("Name", t.Name)
	isGone := sql.Named("IsGone", t.IsGone)
	const (
		update = `UPDATE whd.WH_ServedTable SET IsGone = @IsGone WHERE Name = @Name`
		insert = `INSERT INTO whd.WH_ServedTable (Name, IsGone) VALUES (@Name, @IsGone)`
	)
	n, err := o.Exec(ctx, update, name, isGone)
	if err != nil || n > 0 {
		return o.Fault(err, "storing a served table")
	}
	_, err = o.Exec(ctx, insert, name, isGone)
	if executor.IsDuplicate(err) { // another daemon has added it
		return nil
	}
	return o.Fault(err, "storing a served table")
}
