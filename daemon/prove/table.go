package prove

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// hint is an option of every statement that reads records.
const hint = " OPTION (MAXDOP 1"

// unknownSize is the size of views and of tables of other servers. They are taken for
// large tables.
const unknownSize = -1

// table is the table or view of a record kind.
type table struct {
	kind    *record.Kind
	loaded  bool
	err     error             // of loading
	rows    [][]value         // the first ones, with all fields
	live    *executor.Columns // nil in a file
	columns []mssql.Column    // all, also those without a field
	size    int64             // in rows
	leading []string          // first columns of indexes
}

// value is a value of a row.
type value struct {
	wire.Value
	null bool
}

func newValue(c row.Cell, t record.Type) value {
	v, _ := wire.ParseValue(t, c.Text(t), time.UTC) // the zero value for NULL
	return value{v, c.Null}
}

func (t *table) large() bool { return t.size == unknownSize || t.size >= maxSearched }

// leads reports whether an index starts with a column.
func (t *table) leads(name string) bool {
	return slices.ContainsFunc(t.leading, func(c string) bool { return strings.EqualFold(c, name) })
}

// values returns up to n values of a field. They are neither NULL nor long.
func (t *table) values(field, n int) (all []wire.Value) {
	const longest = 200
	for _, r := range t.rows {
		if v := r[field]; !v.null && len(all) < n && len(v.Text) <= longest && !strings.Contains(v.Text, "\x00") {
			all = append(all, v.Value)
		}
	}
	return all
}

// reader reads the records, as requests do but with few resources.
type reader struct {
	session                  // with the server, the only one
	ctx     context.Context  // of all checks
	records *erp.Records     // opened with Limited
	server  *executor.Server // nil if the records are in a file
	tables  []*table
}

// load reads the catalogue and the first rows, once.
func (p *reader) load(t *table) error {
	if t.loaded {
		return t.err
	}
	t.loaded = true
	if p.server == nil {
		t.size = 0 // reading a file harms no other program
	} else if t.err = p.describe(t); t.err != nil {
		return t.err
	}
	t.rows, _, t.err = p.read(t, first())
	return t.err
}

// describe reads the columns, the size and the indexes of a table.
func (p *reader) describe(t *table) (err error) {
	name := p.server.Table(t.kind.Name).Name
	if t.live, err = p.server.Describe(p.ctx, p.conn, t.kind.Name); err != nil {
		return err
	}
	if t.columns, err = p.conn.Catalogue(p.ctx, name); err != nil || name.Server != "" {
		return err
	}
	system, object := "sys.", textParam(name.Quoted())
	if name.Database != "" {
		system = mssql.Quote(name.Database) + ".sys."
	}
	// Babelfish lists only the indexes of a table, with 0 rows.
	sizes, err := p.texts(p.ctx, "SELECT CONCAT(MAX(q.n), '') FROM (SELECT SUM(rows) AS n FROM "+system+"partitions WHERE object_id = OBJECT_ID(@p1) GROUP BY index_id) q", object)
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(sizes[0], 10, 64); err == nil {
		t.size = n
	}
	t.leading, err = p.texts(p.ctx, "SELECT c.name FROM "+system+"indexes i JOIN "+system+"index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id JOIN "+
		system+"columns c ON c.object_id = i.object_id AND c.column_id = k.column_id WHERE i.object_id = OBJECT_ID(@p1) AND k.key_ordinal = 1 AND i.has_filter = 0 AND i.is_disabled = 0", object)
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
	st, err := query.Compile(plan, t.live.Dialect(), p.server.Table(t.kind.Name).Name.Quoted())
	if r.Take == query.NoTake {
		st.SQL = strings.Replace(st.SQL, "SELECT ", fmt.Sprintf("SELECT TOP (%d) ", maxRows), 1)
	}
	if text, options, has := strings.Cut(st.SQL, " OPTION ("); has {
		st.SQL = text + hint + ", " + options
	} else {
		st.SQL += hint + ")"
	}
	return st, err
}

// read runs a request. It returns the rows and, on a server, the statement.
func (p *reader) read(t *table, r query.Request) (rows [][]value, st query.Statement, err error) {
	add := func(cells []row.Cell) {
		values := make([]value, len(cells))
		for i, c := range cells {
			values[i] = newValue(c, t.kind.Fields[i].Type)
		}
		rows = append(rows, values)
	}
	if p.server == nil {
		return rows, st, p.readFile(t, r, add)
	}
	if st, err = p.compile(t, r); err == nil {
		err = p.query(p.ctx, mssql.Query{SQL: st.SQL, Params: t.live.Bind(st.Args), Types: st.Types}, add)
	}
	return rows, st, err
}

func (p *reader) readFile(t *table, r query.Request, add func([]row.Cell)) error {
	if r.Kind = t.kind; r.Take == query.NoTake {
		r.Take = maxRows
	}
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		return err
	}
	found, err := executor.Select(p.ctx, p.records, limits, plan)
	if err != nil {
		return err
	}
	defer found.Close()
	for {
		cells, err := found.Next()
		if err != nil || cells == nil {
			return err
		}
		add(cells)
	}
}
