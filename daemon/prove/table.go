package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// hint is an option of every statement that reads records.
const hint = "MAXDOP 1"

// unknownSize is the size of views and of tables of other servers. They are taken for
// large tables.
const unknownSize = -1

// table is the table or view of a record kind.
type table struct {
	kind    *record.Kind
	err     error     // error from reading the following fields
	rows    [][]value // the first ones, with all fields
	varying []bool    // fields with values that differ with each read, such as GETDATE() in a view
	live    *executor.Columns
	columns []mssql.Column // all, also those without a field
	size    int64          // in rows
	leading []string       // first columns of indexes
}

// value is a value of a row.
type value struct {
	wire.Value
	null bool
}

func (t *table) large() bool { return t.size == unknownSize || t.size >= maxSearched }

// leads reports whether an index starts with the column of a field.
func (t *table) leads(field string) bool {
	i, _ := t.kind.Column(field)
	name := t.kind.Fields[i].ColumnName()
	return slices.ContainsFunc(t.leading, func(c string) bool { return strings.EqualFold(c, name) })
}

// values returns up to n values of a field. They are neither NULL nor long.
func (t *table) values(field, n int) (all []wire.Value) {
	const longest = 200
	for _, r := range t.rows {
		v := r[field]
		isUsable := !v.null && len(v.Text) <= longest && !strings.Contains(v.Text, "\x00")
		if len(all) < n && isUsable {
			all = append(all, v.Value)
		}
	}
	return all
}

// reader reads the records, as requests do but with few resources.
type reader struct {
	ctx     context.Context // context of all checks
	limit   time.Duration   // time limit of each statement
	zone    *time.Location
	server  *executor.Server
	conn    *mssql.Conn // the only one; after an error, the next statement connects again
	tables  []*table
	product string // with the version
}

// open connects to the server and reads facts about it, the catalogue and the first rows.
func (p *reader) open(server *executor.Server, kinds []*record.Kind) (err error) {
	p.server = server
	p.conn, err = server.Pool.Get(p.ctx)
	if err != nil {
		return err
	}
	// The first statement of a connection takes longer, and no check can run without it.
	p.conn.LimitStatements(max(p.limit, firstLimit))
	found, err := p.texts("SELECT " + product)
	if err != nil {
		return err
	}
	p.product = found[0]
	p.conn.LimitStatements(p.limit)
	for _, kind := range kinds {
		t := &table{kind: kind, size: unknownSize, varying: make([]bool, len(kind.Fields))}
		t.err = p.describe(t)
		if t.err == nil {
			t.rows, _, t.err = p.read(t, first())
		}
		p.tables = append(p.tables, t)
	}
	return nil
}

func (p *reader) close() {
	if p.conn != nil {
		p.conn.Close()
	}
}

// describe reads the columns, the size and the indexes of a table.
func (p *reader) describe(t *table) (err error) {
	name := p.server.Table(t.kind).Name
	t.live, err = p.server.Describe(p.ctx, p.conn, t.kind)
	if err != nil {
		return err
	}
	t.columns, err = p.conn.Catalogue(p.ctx, name)
	if err != nil || name.Server != "" {
		return err
	}
	if len(t.columns) == 0 {
		return errNotSeen
	}
	t.size, err = p.conn.Size(p.ctx, name)
	if err != nil {
		return err
	}
	t.leading, err = p.conn.Leading(p.ctx, name)
	return err
}

// first returns the request for the first matching rows, in any order.
func first(where ...query.Condition) query.Request {
	return query.Request{Where: where, Take: query.NoTake}
}

// compile returns the statement of a request, as the service compiles it.
func (p *reader) compile(t *table, r query.Request) (query.Statement, error) {
	r.Kind = t.kind
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		return query.Statement{}, err
	}
	st, err := query.Compile(plan, t.live.Dialect(), p.server.Table(t.kind).Name.Quoted())
	if r.Take == query.NoTake {
		st.SQL = strings.Replace(st.SQL, "SELECT ", fmt.Sprintf("SELECT TOP (%d) ", maxRows), 1)
	}
	st.SQL = executor.WithOption(st.SQL, hint)
	return st, err
}

// read runs a request. It returns the rows and the statement.
func (p *reader) read(t *table, r query.Request) (rows [][]value, st query.Statement, err error) {
	st, err = p.compile(t, r)
	if err != nil {
		return nil, st, err
	}
	err = p.query(mssql.Query{SQL: st.SQL, Params: t.live.Bind(st.Args), Types: st.Types}, func(cells []row.Cell) {
		values := make([]value, len(cells))
		for i, c := range cells {
			fieldType := t.kind.Fields[i].Type
			values[i].null = c.Null
			values[i].Value, _ = wire.ParseValue(fieldType, c.Text(fieldType), time.UTC) // the zero value for NULL
		}
		rows = append(rows, values)
	})
	if err != nil {
		rows = nil
	}
	return rows, st, err
}

// query passes the rows of a statement to add.
func (p *reader) query(q mssql.Query, add func([]row.Cell)) error {
	q.Lock, q.Context = lockTimeout, []byte("whd check --prove")
	rows, err := p.conn.Query(p.ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return err
		}
		add(cells)
	}
}

// texts returns the rows of a statement with text parameters and one column, a text.
func (p *reader) texts(statement string, params ...string) (all []string, err error) {
	q := mssql.Query{SQL: statement, Types: []record.Type{record.Text}}
	for _, text := range params {
		q.Params = append(q.Params, mssql.Text(mssql.Column{Type: "nvarchar", Length: 1000}, text))
	}
	err = p.query(q, func(cells []row.Cell) { all = append(all, string(cells[0].Data)) })
	return all, err
}
