package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// mixedCases is the number of random cases; WHD_TEST_CASES sets another one.
func mixedCases(t *testing.T) int {
	text := os.Getenv("WHD_TEST_CASES")
	if text == "" {
		return 300
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// mixedField is a field with values of every storage class.
type mixedField struct {
	name     string
	typ      record.Type
	blob     record.BlobForm
	declared string
	stored   map[int64]any
	fold     func(string) string // the form in which texts are compared; nil if unchanged
}

// mixedPrograms is a daemon with the kind Mixed, and the programs that query it.
type mixedPrograms struct {
	url    string
	whctl  invocation
	fields []mixedField
	rows   int
}

// onBoth runs a test on the embedded file and on a server.
func onBoth(t *testing.T, test func(t *testing.T, m *mixedPrograms)) {
	t.Run("SQLite", func(t *testing.T) { test(t, startMixed(t)) })
	t.Run("SQLServer", func(t *testing.T) { test(t, startMixedServer(t)) })
}

func startMixed(t *testing.T) *mixedPrograms {
	t.Helper()
	dir := t.TempDir()
	fields := mixedFields()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	createMixedTable(t, conn, fields)
	readStored(t, conn, fields)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}

	m := &mixedPrograms{fields: fields, rows: len(executortest.MixedValues)}
	file := writeMixedKind(t, fields)
	m.serve(t, daemontest.StartIn(t, dir,
		"--erp", "demo", "--erp-kinds", file, "--auth-queries", "anonymous"))
	return m
}

// mixedFields returns a field of each type for a column of each declared type.
func mixedFields() []mixedField {
	var fields []mixedField
	for _, declared := range executortest.MixedColumns {
		for _, held := range executortest.MixedFields() {
			if strings.HasSuffix(declared, "DEC") && held.Type != record.Decimal {
				continue // its order and its equality are those of decimals
			}
			f := mixedField{
				name:     fmt.Sprintf("Held%d", len(fields)),
				typ:      held.Type,
				blob:     held.Blob,
				declared: declared,
			}
			if strings.Contains(declared, "NOCASE") {
				f.fold = strings.ToLower
			}
			fields = append(fields, f)
		}
	}
	return fields
}

// createMixedTable creates the table Mixed. Each row has one value in all columns.
func createMixedTable(t *testing.T, conn *sqlite.Conn, fields []mixedField) {
	t.Helper()
	columns := []string{"ID INTEGER PRIMARY KEY NOT NULL"}
	for _, f := range fields {
		columns = append(columns, f.name+" "+f.declared)
	}
	statements := []string{"CREATE TABLE Mixed (" + strings.Join(columns, ", ") + ")", "BEGIN"}
	for i, v := range executortest.MixedValues {
		values := strings.Repeat(", "+v, len(fields))
		statements = append(statements, fmt.Sprintf("INSERT INTO Mixed VALUES (%d%s)", i+1, values))
	}
	statements = append(statements, "COMMIT")
	for _, statement := range statements {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// readStored reads the values of the fields as SQLite has stored them.
func readStored(t *testing.T, conn *sqlite.Conn, fields []mixedField) {
	t.Helper()
	for i, f := range fields {
		stored, err := executortest.StoredMixed(conn, "Mixed", f.name)
		if err != nil {
			t.Fatal(err)
		}
		if f.blob != "" {
			executortest.UnpackGuids(stored, f.blob)
		}
		fields[i].stored = stored
	}
}

// writeMixedKind writes the file of the kind Mixed and returns its path.
func writeMixedKind(t *testing.T, fields []mixedField) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mixed.toml")
	if err := os.WriteFile(file, []byte(mixedKindTOML(fields)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// mixedKindTOML describes the kind Mixed with fields.
func mixedKindTOML(fields []mixedField) string {
	var text strings.Builder
	text.WriteString(`[Mixed]
key = ["ID"]
[Mixed.fields]
ID = "long"
`)
	for _, f := range fields {
		typeName := record.Field{Type: f.typ, Null: record.Nullable}.TypeName()
		if f.blob == "" {
			fmt.Fprintf(&text, "%s = %q\n", f.name, typeName)
		} else {
			fmt.Fprintf(&text, "%s = { type = %q, blob = %q }\n", f.name, typeName, f.blob)
		}
	}
	return text.String()
}

// serve sets the daemon that is queried.
func (m *mixedPrograms) serve(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	m.url = i.URL
	m.whctl = invocation{
		config:  t.TempDir(),
		handler: http.NotFound,
		env:     map[string]string{profile.EnvURL: i.URL, profile.EnvToken: i.Key(t, "reader")},
	}
}

// mixedRow is a row of a response.
type mixedRow struct{ ID int64 }

func idsOf(rows []mixedRow) []int64 {
	var ids []int64
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

// getREST reads a page of rows by the query interface, and the cursor of the next one.
func getREST(t *testing.T, address string) (ids []int64, cursor string) {
	t.Helper()
	var page struct {
		Results []mixedRow
		Meta    map[string]string
	}
	getPage(t, address, nil, &page)
	return idsOf(page.Results), page.Meta["Next"]
}

// getOData reads a page of rows by OData, and the address of the next one.
func getOData(t *testing.T, address string, header http.Header) (ids []int64, nextLink string) {
	t.Helper()
	var page struct {
		Value []mixedRow
		Next  string `json:"@odata.nextLink"`
	}
	getPage(t, address, header, &page)
	return idsOf(page.Value), page.Next
}

func getPage(t *testing.T, address string, header http.Header, page any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(req.Header, header)
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", address, reply.StatusCode, err, body)
	}
	if err := json.Unmarshal(body, page); err != nil {
		t.Fatalf("%s: %v: %s", address, err, body)
	}
}

// mixedOperator is an operator by the names of the three programs; an empty name means that a
// program has none.
type mixedOperator struct {
	operator record.Operator
	odata    string
	whctl    string
	negated  bool // the name is that of the opposite, which only OData has
}

var mixedOperators = []mixedOperator{
	{operator: record.Equal, odata: "eq", whctl: "="},
	{operator: record.GreaterThan, odata: "gt", whctl: ">"},
	{operator: record.GreaterThanOrEqualTo, odata: "ge", whctl: ">="},
	{operator: record.LessThan, odata: "lt", whctl: "<"},
	{operator: record.LessThanOrEqualTo, odata: "le", whctl: "<="},
	{operator: record.NotEqualTo, whctl: "!="},
	{operator: record.Equal, odata: "ne", negated: true},
}

// odataLiteral returns an operand in OData.
func odataLiteral(typ record.Type, text string) string {
	switch typ {
	case record.Text:
		return "'" + text + "'"
	case record.DateTime:
		return text // of the records' own zone
	case record.TimeSpan:
		return "duration'" + text + "'"
	}
	return text
}

// mixedCondition is a condition on a field.
type mixedCondition struct {
	field   mixedField
	op      mixedOperator
	operand string
}

func (c mixedCondition) String() string {
	name := c.op.operator.String()
	if c.op.negated {
		name = "not " + name
	}
	return fmt.Sprintf("%s as %s, %s %s", c.field.declared, c.field.typ, name, c.operand)
}

// TestMixedConditionsInPrograms: HTTP, OData and whctl find the rows that a naive evaluation
// finds, in columns of every declared type with values of every storage class.
func TestMixedConditionsInPrograms(t *testing.T) { onBoth(t, checkMixedConditions) }

func checkMixedConditions(t *testing.T, m *mixedPrograms) {
	random := rand.New(rand.NewPCG(1, 2))
	n := mixedCases(t)
	for range n {
		c := randomCondition(random, m.fields)
		want := wantIDs(t, c)
		check := func(program string, got []int64) {
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %v, want %v", program, c, got, want)
			}
		}
		if !c.op.negated {
			check("HTTP", m.queryHTTP(t, c))
		}
		if c.op.odata != "" && c.field.typ != record.Bytes {
			check("OData", m.queryOData(t, c))
		}
		if c.op.whctl != "" {
			check("whctl", m.queryWhctl(t, c))
		}
	}
	t.Logf("%d cases", n)
}

func randomCondition(random *rand.Rand, fields []mixedField) mixedCondition {
	f := fields[random.IntN(len(fields))]
	op := mixedOperators[random.IntN(len(mixedOperators))]
	if !f.typ.Filter().Allows(op.operator) || f.typ == record.Bytes {
		op = mixedOperators[0]
	}
	operands := executortest.MixedOperands[f.typ]
	return mixedCondition{field: f, op: op, operand: operands[random.IntN(len(operands))]}
}

// wantIDs returns the rows that meet a condition by a naive evaluation, in order.
func wantIDs(t *testing.T, c mixedCondition) []int64 {
	t.Helper()
	v, err := wire.ParseValue(c.field.typ, c.operand, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	fold := c.field.fold
	if fold == nil {
		fold = func(text string) string { return text }
	}
	operands := []executortest.MixedValue{executortest.MixedOperand(c.field.typ, v)}
	var ids []int64
	for id, stored := range c.field.stored {
		if executortest.MeetsMixed(c.field.typ, stored, c.op.operator, operands, fold) != c.op.negated {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// queryHTTP returns the rows that the query interface finds.
func (m *mixedPrograms) queryHTTP(t *testing.T, c mixedCondition) []int64 {
	t.Helper()
	filter := c.field.name + c.op.operator.Suffix() + "=" + url.QueryEscape(c.operand)
	ids, _ := getREST(t, m.url+"/Queries/Mixed.json?Fields=ID&"+filter)
	return ids
}

// queryOData returns the rows that OData finds.
func (m *mixedPrograms) queryOData(t *testing.T, c mixedCondition) []int64 {
	t.Helper()
	filter := c.field.name + " " + c.op.odata + " " + odataLiteral(c.field.typ, c.operand)
	ids, _ := getOData(t, m.url+"/odata/Mixed?$select=ID&$filter="+url.QueryEscape(filter), nil)
	return ids
}

// queryWhctl returns the rows that whctl query prints.
func (m *mixedPrograms) queryWhctl(t *testing.T, c mixedCondition) []int64 {
	t.Helper()
	where := c.field.name + c.op.whctl + c.operand
	out := m.whctl.run(t, "query", "Mixed", "--where", where, "--fields", "ID", "--csv")
	if out.code != 0 {
		t.Fatalf("whctl --where %s: exit %d: %s", where, out.code, out.stderr)
	}
	lines, err := csv.NewReader(strings.NewReader(out.stdout)).ReadAll()
	if err != nil {
		t.Fatalf("whctl --where %s: %v: %s", where, err, out.stdout)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], []string{"ID"}) {
		t.Fatalf("whctl --where %s: no header ID in %s", where, out.stdout)
	}
	var ids []int64
	for _, line := range lines[1:] {
		id, err := strconv.ParseInt(line[0], 10, 64)
		if err != nil {
			t.Fatalf("whctl --where %s: %v: %s", where, err, out.stdout)
		}
		ids = append(ids, id)
	}
	return ids
}

// mixedPageSize is the number of rows of a page; the last one has fewer.
const mixedPageSize = 9

// TestMixedPagesInPrograms: pages by Skip, by Cursor and by nextLink have the rows of one read, in
// its order.
func TestMixedPagesInPrograms(t *testing.T) { onBoth(t, checkMixedPages) }

func checkMixedPages(t *testing.T, m *mixedPrograms) {
	for i, f := range m.fields {
		order, direction := "OrderBy", "asc"
		if i%2 == 1 {
			order, direction = "OrderByDesc", "desc"
		}
		check := func(method string, got, want []int64) {
			if !slices.Equal(got, want) {
				t.Errorf("%s by %s of %s as %s %s:\ngot  %v\nwant %v",
					method, f.name, f.declared, f.typ, direction, got, want)
			}
		}
		all := m.url + "/Queries/Mixed.json?Fields=ID&" + order + "=" + f.name
		want, _ := getREST(t, all+"&Cursor=")
		if len(want) != m.rows {
			t.Fatalf("one read has %d rows, want %d", len(want), m.rows)
		}
		check("Cursor", m.pagesByCursor(t, all), want)
		check("nextLink", m.pagesByLink(t, f.name+" "+direction), want)

		// Without a cursor, the rows may have another order where values are equal.
		wantSkipped, _ := getREST(t, all)
		check("Skip", m.pagesBySkip(t, all), wantSkipped)
	}
}

// pagesByCursor reads all rows at an address with Cursor.
func (m *mixedPrograms) pagesByCursor(t *testing.T, all string) []int64 {
	t.Helper()
	var ids []int64
	cursor := ""
	for len(ids) <= m.rows { // more rows mean that it does not end
		page, next := getREST(t, fmt.Sprintf("%s&Take=%d&Cursor=%s", all, mixedPageSize, cursor))
		ids = append(ids, page...)
		if next == "" {
			break
		}
		cursor = next
	}
	return ids
}

// pagesByLink reads all rows in an order of OData by its links.
func (m *mixedPrograms) pagesByLink(t *testing.T, order string) []int64 {
	t.Helper()
	header := http.Header{"Prefer": {fmt.Sprintf("odata.maxpagesize=%d", mixedPageSize)}}
	var ids []int64
	address := m.url + "/odata/Mixed?$select=ID&$orderby=" + url.QueryEscape(order)
	for address != "" && len(ids) <= m.rows {
		page, next := getOData(t, address, header)
		ids = append(ids, page...)
		address = next
	}
	return ids
}

// pagesBySkip reads all rows at an address with Skip.
func (m *mixedPrograms) pagesBySkip(t *testing.T, all string) []int64 {
	t.Helper()
	var ids []int64
	for skip := 0; skip < m.rows; skip += mixedPageSize {
		page, _ := getREST(t, fmt.Sprintf("%s&Take=%d&Skip=%d", all, mixedPageSize, skip))
		ids = append(ids, page...)
	}
	return ids
}
