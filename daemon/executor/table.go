package executor

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
)

// Table is the table or view of a record kind on a server.
type Table struct {
	Kind *record.Kind
	Name mssql.Table

	columns atomic.Pointer[Columns] // nil until they are read
}

// Forget removes the columns from the cache, after an error that a change of the table may have
// caused. If Describe is reading them at the same time, it may store those from before the change:
// the next error removes them again.
func (t *Table) Forget() { t.columns.Store(nil) }

// catalogueTTL is how long facts about a table and its database are used without reading them again:
// both may change while the daemon runs.
const catalogueTTL = 5 * time.Minute

// Columns are the columns of a table in the database's catalogue. If the table is missing or not
// accessible there are none; the default types are assumed then, and the statement itself fails
// with an error.
type Columns struct {
	ByField []mssql.Column // those of the fields of the kind; zero for a missing one

	dialect *dialect.Dialect
	expires time.Time
	keys    atomic.Pointer[[]mssql.KeyColumn] // nil until they are read
}

// Describe returns the columns of a kind's table, from the cache or the catalogue.
func (srv *Server) Describe(
	ctx context.Context, conn *mssql.Conn, kind *record.Kind,
) (*Columns, error) {
	table := srv.Table(kind)
	cached := table.columns.Load()
	if cached != nil && time.Now().Before(cached.expires) {
		return cached, nil
	}

	hasOpenJSON, err := srv.openJSON.detect(ctx, conn)
	if err != nil {
		return nil, err
	}
	catalogue, err := conn.Catalogue(ctx, table.Name)
	if err != nil {
		return nil, err
	}
	columns := newColumns(kind, catalogue, hasOpenJSON)
	table.columns.Store(columns)
	return columns, nil
}

// newColumns matches columns to a kind's fields by name, ignoring letter case.
func newColumns(kind *record.Kind, catalogue []mssql.Column, hasOpenJSON bool) *Columns {
	byField := make([]mssql.Column, len(kind.Fields))
	for _, column := range catalogue {
		field, ok := kind.ByColumn(column.Name)
		if ok {
			byField[field] = column
		}
	}

	d := dialect.TSQL()
	d.Columns = make([]dialect.Column, len(byField))
	for field, column := range byField {
		if column.Type == "" {
			continue // the table has no such column
		}
		d.Columns[field] = dialect.Column{
			Type:      column.Declared(),
			Collation: column.Collation,
			Items:     column.Items,
		}
	}
	if !hasOpenJSON {
		d.List.MaxInline = 0
	}
	return &Columns{ByField: byField, dialect: d, expires: time.Now().Add(catalogueTTL)}
}

// Dialect returns the dialect for statements on the table.
func (c *Columns) Dialect() *dialect.Dialect { return c.dialect }
