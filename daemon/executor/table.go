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

// describedFor is how long a table's description is believed. Columns may
// change while the daemon runs.
const describedFor = 5 * time.Minute

// Table is the table or view of a record kind.
type Table struct {
	Kind *record.Kind
	Name mssql.Table

	known atomic.Pointer[Columns] // nil until they are read
}

// Columns are those of a table as the catalogue has them: nothing, where there is
// none or it may not be looked at. Then the columns are taken to be the usual
// ones, and the statement's own failure shows what is wrong.
type Columns struct {
	ByField []mssql.Column
	words   *dialect.Dialect
	until   time.Time // when they are read again
}

// Describe reads the columns of a kind's table from the catalogue, unless they
// were read of late.
func (b *Server) Describe(ctx context.Context, conn *mssql.Conn, kind string) (*Columns, error) {
	t := b.tables[kind]
	if known := t.known.Load(); known != nil && time.Now().Before(known.until) {
		return known, nil
	}
	takesLists, err := b.askForLists(ctx, conn)
	if err != nil {
		return nil, err
	}
	columns, err := conn.Catalogue(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	known := know(t.Kind, columns, takesLists)
	t.known.Store(known)
	return known, nil
}

// Forget makes the next session read the catalogue.
func (t *Table) Forget() { t.known.Store(nil) }

// know finds the columns of a kind's fields, in any letter case.
func know(kind *record.Kind, columns []mssql.Column, takesLists bool) *Columns {
	k := &Columns{ByField: make([]mssql.Column, len(kind.Fields)), words: dialect.TSQL(), until: time.Now().Add(describedFor)}
	for _, c := range columns {
		if field, ok := kind.Column(c.Name); ok {
			k.ByField[field] = c
		}
	}
	k.words.Columns = make([]dialect.Column, len(kind.Fields))
	for field, c := range k.ByField {
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

// bind makes parameters of a statement's arguments, typed as the columns are
// that they are compared with.
func (k *Columns) bind(args []query.Arg) []mssql.Param {
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
	switch {
	case t.Integer():
		return mssql.Whole(c, v.Int)
	case t == record.Bool:
		return mssql.Bit(v.Int)
	case t == record.Bytes:
		return mssql.Binary(v.Bytes)
	case t == record.Guid:
		return mssql.Guid(c, v.Text)
	case t == record.Decimal, t == record.DateTime:
		return mssql.Digits(v.Text)
	}
	return mssql.Text(c, v.Text)
}

// listText is a list as a JSON array. Spaces at the end of texts, which compare
// as if they were not there, might not fit an item.
func listText(t record.Type, values []wire.Value) []byte {
	items := make([]string, len(values))
	for i, v := range values {
		switch items[i] = v.Text; {
		case t.Integer():
			items[i] = strconv.FormatInt(v.Int, 10)
		case t == record.Text:
			items[i] = strings.TrimRight(v.Text, " ")
		}
	}
	text, err := json.Marshal(items)
	if err != nil {
		panic("executor: " + err.Error()) // strings can always be written
	}
	return text
}

// askForLists finds out whether the server reads JSON, unless that is known: a
// database that came from a server before 2016 does not, until that is enabled. It
// does not wait for the answer that another session asks for, whose connection may
// be dead.
func (b *Server) askForLists(ctx context.Context, conn *mssql.Conn) (bool, error) {
	if known := b.takesLists.Load(); known != nil {
		return *known, nil
	}
	rows, err := conn.Query(ctx, mssql.Query{
		SQL:    "SELECT v FROM OPENJSON(@p1) WITH (v int '$')",
		Params: []mssql.Param{mssql.JSON([]byte("[1]"))},
		Types:  []record.Type{record.Int},
	})
	if err == nil {
		rows.Close()
	}
	takes, err := takesLists(err)
	if err == nil {
		b.takesLists.Store(&takes)
	}
	return takes, err
}

// takesLists distinguishes a server that has never heard of OPENJSON, which it calls a
// missing table or WITH in the wrong place, from one that has other troubles.
func takesLists(err error) (bool, error) {
	if refused, is := errors.AsType[*mssql.Error](err); is && refused.Unknown() {
		return false, nil
	}
	return err == nil, err
}
