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
	rows    [][]value // first rows, with all fields
	varying []bool    // fields with values that differ with each read, such as GETDATE() in a view
	live    *executor.Columns
	columns []mssql.Column // columns of the table, also those without a field
	size    int64          // number of rows
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
	return t.leadsColumn(t.kind.Fields[i].ColumnName())
}

// leadsColumn reports whether an index starts with a column, which may have no field.
func (t *table) leadsColumn(name string) bool {
	return slices.ContainsFunc(t.leading, func(c string) bool { return strings.EqualFold(c, name) })
}

// values returns up to n values of a field. They are neither NULL nor long.
func (t *table) values(field, n int) (values []wire.Value) {
	const maxLength = 200 // in bytes
	for _, r := range t.rows {
		if len(values) == n {
			break
		}
		v := r[field]
		if !v.null && len(v.Text) <= maxLength && !strings.Contains(v.Text, "\x00") {
			values = append(values, v.Value)
		}
	}
	return values
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
	rows, err := p.texts("SELECT " + product)
	if err != nil {
		return err
	}
	p.product = rows[0]
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
	q := mssql.Query{SQL: st.SQL, Params: t.live.Bind(st.Args), Types: st.Types}
	err = p.query(q, func(cells []row.Cell) { rows = append(rows, t.valuesOf(cells)) })
	if err != nil {
		return nil, st, err
	}
	return rows, st, nil
}

// valuesOf returns the values of a row of the table.
func (t *table) valuesOf(cells []row.Cell) []value {
	values := make([]value, len(cells))
	for i, cell := range cells {
		fieldType := t.kind.Fields[i].Type
		values[i].null = cell.Null
		// A NULL cannot be parsed, which leaves the zero value.
		values[i].Value, _ = wire.ParseValue(fieldType, cell.Text(fieldType), time.UTC)
	}
	return values
}

// query passes the rows of a statement to add.
func (p *reader) query(q mssql.Query, add func([]row.Cell)) error {
	q.Lock = lockTimeout
	q.Context = []byte("whd check --prove")
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
func (p *reader) texts(statement string, params ...string) (rows []string, err error) {
	q := mssql.Query{SQL: statement, Types: []record.Type{record.Text}}
	for _, text := range params {
		q.Params = append(q.Params, mssql.Text(mssql.Column{Type: "nvarchar", Length: 1000}, text))
	}
	err = p.query(q, func(cells []row.Cell) { rows = append(rows, string(cells[0].Data)) })
	return rows, err
}
