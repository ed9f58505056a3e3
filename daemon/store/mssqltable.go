package store

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
)

// describedFor is how long a table's description is believed. Somebody may
// change a column while the daemon runs.
const describedFor = 5 * time.Minute

// mssqlTable is the table or view of a record kind.
type mssqlTable struct {
	kind *record.Kind
	name mssql.Table

	mu    sync.Mutex
	known *knownTable // nil until it is read
	until time.Time
}

// knownTable is what the catalogue says of a table: nothing, where there is
// none or it may not be looked at. Then the columns are taken to be the usual
// ones, and the statement's own failure shows what is wrong.
type knownTable struct {
	columns []mssql.Column // by field
	words   *dialect.Dialect
}

// describe reads the catalogue unless it was read of late.
func (t *mssqlTable) describe(ctx context.Context, conn *mssql.Conn, lists *listProbe) (*knownTable, error) {
	t.mu.Lock()
	known, fresh := t.known, time.Now().Before(t.until)
	t.mu.Unlock()
	if known != nil && fresh {
		return known, nil
	}
	takesLists, err := lists.ask(ctx, conn)
	if err != nil {
		return nil, err
	}
	columns, err := conn.Catalogue(ctx, t.name)
	if err != nil {
		return nil, err
	}
	known = know(t.kind, columns, takesLists)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known, t.until = known, time.Now().Add(describedFor)
	return known, nil
}

// forget makes the next session read the catalogue.
func (t *mssqlTable) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = nil
}

// know finds the columns of a kind's fields, in any letter case.
func know(kind *record.Kind, columns []mssql.Column, takesLists bool) *knownTable {
	k := &knownTable{columns: make([]mssql.Column, len(kind.Fields)), words: dialect.TSQL()}
	for _, c := range columns {
		if field, ok := kind.Column(c.Name); ok {
			k.columns[field] = c
		}
	}
	k.words.Columns = make([]dialect.Column, len(kind.Fields))
	for field, c := range k.columns {
		k.words.Columns[field] = dialect.Column{Collation: c.Collation}
		if c.Type != "" {
			k.words.Columns[field].Type = c.Declared()
			k.words.Columns[field].Items = c.Items
		}
	}
	if !takesLists {
		k.words.List.Longest = 0
	}
	return k
}
