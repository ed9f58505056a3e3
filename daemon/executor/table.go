package executor

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// columnsTTL is how long the columns of a table are cached. They may change while the
// daemon runs.
const columnsTTL = 5 * time.Minute

// Table is the table or view of a record kind.
type Table struct {
	Kind *record.Kind
	Name mssql.Table

	cached atomic.Pointer[Columns] // nil until first read
}

// Columns are the columns of a table in the database's catalogue. If the table is missing
// or not accessible there are none; the default types are assumed then, and the
// statement itself fails with an error.
type Columns struct {
	ByField []mssql.Column
	dialect *dialect.Dialect
	until   time.Time                         // expiry of the cache entry
	keys    atomic.Pointer[[]mssql.KeyColumn] // nil until first read
}

// Describe returns the columns of a kind's table, from the cache or the catalogue.
func (b *Server) Describe(ctx context.Context, conn *mssql.Conn, kind *record.Kind) (*Columns, error) {
	t := b.Table(kind)
	if cached := t.cached.Load(); cached != nil && time.Now().Before(cached.until) {
		return cached, nil
	}
	supportsJSON, err := b.detectJSON(ctx, conn)
	if err != nil {
		return nil, err
	}
	columns, err := conn.Catalogue(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	cached := newColumns(t.Kind, columns, supportsJSON)
	t.cached.Store(cached)
	return cached, nil
}

// Forget removes the columns from the cache.
func (t *Table) Forget() { t.cached.Store(nil) }

// newColumns matches columns to a kind's fields by name, ignoring letter case.
func newColumns(kind *record.Kind, columns []mssql.Column, supportsJSON bool) *Columns {
	k := &Columns{
		ByField: make([]mssql.Column, len(kind.Fields)),
		dialect: dialect.TSQL(),
		until:   time.Now().Add(columnsTTL),
	}
	for _, c := range columns {
		if field, ok := kind.ByColumn(c.Name); ok {
			k.ByField[field] = c
		}
	}
	k.dialect.Columns = make([]dialect.Column, len(kind.Fields))
	for field, c := range k.ByField {
		k.dialect.Columns[field] = dialect.Column{Collation: c.Collation}
		if c.Type != "" {
			k.dialect.Columns[field].Type = c.Declared()
			k.dialect.Columns[field].Items = c.Items
		}
	}
	if !supportsJSON {
		k.dialect.List.MaxInline = 0
	}
	return k
}

// Dialect returns the dialect for statements on the table.
func (k *Columns) Dialect() *dialect.Dialect { return k.dialect }

// Bind converts a statement's arguments to parameters, with the types of the columns
// that they are compared with.
func (k *Columns) Bind(args []query.Arg) []mssql.Param {
	params := make([]mssql.Param, len(args))
	for i, a := range args {
		switch {
		case a.Field == query.NoField:
			params[i] = mssql.Long(a.Value.Int)
		case a.List != nil:
			params[i] = mssql.JSON(listText(a.Type, a.List))
		default:
			params[i] = bindValue(k.ByField[a.Field], a.Type, a.Value)
		}
	}
	return params
}

func bindValue(c mssql.Column, t record.Type, v wire.Value) mssql.Param {
	if t.Integer() {
		return mssql.Whole(c, v.Int)
	}
	switch t {
	case record.Bool:
		return mssql.Bit(c, v.Int)
	case record.Bytes:
		return mssql.Binary(v.Bytes)
	case record.Guid:
		return mssql.Guid(c, v.Text)
	case record.Double:
		return mssql.Double(v.Text)
	case record.Decimal:
		if c.Type == "float" || c.Type == "real" {
			return mssql.Double(v.Text)
		}
		return mssql.Digits(v.Text)
	case record.DateTime, record.TimeSpan:
		return mssql.Digits(v.Text)
	}
	return mssql.Text(c, v.Text)
}

// listText encodes a list as a JSON array. Trailing spaces, which do not affect
// comparisons, are removed because items with them may exceed the declared length.
func listText(t record.Type, values []wire.Value) []byte {
	items := make([]string, len(values))
	for i, v := range values {
		items[i] = v.Text
		if t.Integer() {
			items[i] = strconv.FormatInt(v.Int, 10)
		} else if t == record.Text {
			items[i] = strings.TrimRight(v.Text, " ")
		}
	}
	text, err := json.Marshal(items)
	if err != nil {
		panic("executor: " + err.Error()) // strings can always be encoded
	}
	return text
}

// detectJSON reports whether the server supports OPENJSON and caches the result: a
// database with a compatibility level before SQL Server 2016 does not. It does not wait
// for the check of another session on a connection that may be dead.
func (b *Server) detectJSON(ctx context.Context, conn *mssql.Conn) (bool, error) {
	if cached := b.supportsJSON.Load(); cached != nil {
		return *cached, nil
	}
	rows, err := conn.Query(ctx, mssql.Query{
		SQL:    "SELECT v FROM OPENJSON(@p1) WITH (v int '$')",
		Params: []mssql.Param{mssql.JSON([]byte("[1]"))},
		Types:  []record.Type{record.Int},
	})
	if err == nil {
		rows.Close()
	}
	isSupported, err := supportsJSON(err)
	if err == nil {
		b.supportsJSON.Store(&isSupported)
	}
	return isSupported, err
}

// supportsJSON reports whether err means that OPENJSON is unknown: then the server reports
// a missing table or a syntax error at WITH. Other errors are returned.
func supportsJSON(err error) (bool, error) {
	if refused, ok := errors.AsType[*mssql.Error](err); ok && refused.UnknownSyntax() {
		return false, nil
	}
	return err == nil, err
}
