package main

import (
	"encoding/json"
	"fmt"
	"io"
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
	of       record.Type
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
	m := &mixedPrograms{rows: len(executortest.MixedValues)}
	dir := t.TempDir()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	columns, kind := []string{"ID INTEGER PRIMARY KEY NOT NULL"}, "[Mixed]\nkey = [\"ID\"]\n[Mixed.fields]\nID = \"long\"\n"
	for _, declared := range executortest.MixedColumns {
		for _, held := range executortest.MixedFields() {
			if strings.HasSuffix(declared, "DEC") && held.Type != record.Decimal {
				continue // its order and its equality are those of decimals
			}
			name := fmt.Sprintf("Held%d", len(m.fields))
			f := mixedField{name: name, of: held.Type, blob: held.Blob, declared: declared}
			if strings.Contains(declared, "NOCASE") {
				f.fold = strings.ToLower
			}
			m.fields = append(m.fields, f)
			columns = append(columns, name+" "+declared)
			if held.Blob == "" {
				kind += fmt.Sprintf("%s = %q\n", name, held.TypeName())
			} else {
				kind += fmt.Sprintf("%s = { type = %q, blob = %q }\n", name, held.TypeName(), held.Blob)
			}
		}
	}
	statements := []string{"CREATE TABLE Mixed (" + strings.Join(columns, ", ") + ")", "BEGIN"}
	for i, v := range executortest.MixedValues {
		statements = append(statements, fmt.Sprintf("INSERT INTO Mixed VALUES (%d%s)", i+1, strings.Repeat(", "+v, len(m.fields))))
	}
	for _, statement := range append(statements, "COMMIT") {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for i, f := range m.fields {
		if m.fields[i].stored, err = executortest.StoredMixed(conn, "Mixed", f.name); err != nil {
			t.Fatal(err)
		}
		if f.blob != "" {
			executortest.UnpackGuids(m.fields[i].stored, f.blob)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "mixed.toml")
	if err := os.WriteFile(file, []byte(kind), 0o600); err != nil {
		t.Fatal(err)
	}
	m.serve(t, daemontest.StartIn(t, dir, "--erp", "demo", "--erp-kinds", file, "--auth-queries", "anonymous"))
	return m
}

// serve sets the daemon that is queried.
func (m *mixedPrograms) serve(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	m.url = i.URL
	m.whctl = invocation{config: t.TempDir(), handler: http.NotFound, env: map[string]string{profile.EnvURL: i.URL, profile.EnvToken: i.Key(t, "reader")}}
}

// get returns the IDs of a reply, and the address of the next page of OData or the cursor.
func (m *mixedPrograms) get(t *testing.T, address string, prefer string) (ids []int64, next string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Prefer", prefer)
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", address, reply.StatusCode, err, body)
	}
	var page struct {
		Results, Value []struct{ ID int64 }
		Meta           map[string]string
		Next           string `json:"@odata.nextLink"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		t.Fatalf("%s: %v: %s", address, err, body)
	}
	for _, row := range append(page.Results, page.Value...) {
		ids = append(ids, row.ID)
	}
	return ids, page.Next + page.Meta["Next"]
}

// mixedOperators are the operators by the names of the three programs; an empty name means that a
// program has none.
var mixedOperators = []struct {
	operator     record.Operator
	odata, whctl string
	negated      bool // of OData
}{
	{record.Equal, "eq", "=", false}, {record.GreaterThan, "gt", ">", false}, {record.GreaterThanOrEqualTo, "ge", ">=", false},
	{record.LessThan, "lt", "<", false}, {record.LessThanOrEqualTo, "le", "<=", false}, {record.NotEqualTo, "", "!=", false},
	{record.Equal, "ne", "", true},
}

// odataLiteral returns an operand in OData.
func odataLiteral(of record.Type, text string) string {
	switch of {
	case record.Text:
		return "'" + text + "'"
	case record.DateTime:
		return text // of the records' own zone
	case record.TimeSpan:
		return "duration'" + text + "'"
	}
	return text
}

// TestMixedConditionsInPrograms: HTTP, OData and whctl find the rows that a naive evaluation
// finds, in columns of every declared type with values of every storage class.
func TestMixedConditionsInPrograms(t *testing.T) { onBoth(t, checkMixedConditions) }

func checkMixedConditions(t *testing.T, m *mixedPrograms) {
	random := rand.New(rand.NewPCG(1, 2))
	n := mixedCases(t)
	for range n {
		f := m.fields[random.IntN(len(m.fields))]
		op := mixedOperators[random.IntN(len(mixedOperators))]
		if !f.of.Filter().Allows(op.operator) || f.of == record.Bytes {
			op = mixedOperators[0]
		}
		operands := executortest.MixedOperands[f.of]
		text := operands[random.IntN(len(operands))]
		v, err := wire.ParseValue(f.of, text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		fold := f.fold
		if fold == nil {
			fold = func(text string) string { return text }
		}
		var want []int64
		for id, stored := range f.stored {
			if executortest.MeetsMixed(f.of, stored, op.operator, []executortest.MixedValue{executortest.MixedOperand(f.of, v)}, fold) != op.negated {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		check := func(program string, got []int64) {
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s as %s, %s %s: got %v, want %v", program, f.declared, f.of, op.operator, text, got, want)
			}
		}
		if !op.negated {
			got, _ := m.get(t, m.url+"/Queries/Mixed.json?Fields=ID&"+f.name+op.operator.Suffix()+"="+url.QueryEscape(text), "")
			check("HTTP", got)
		}
		if op.odata != "" && f.of != record.Bytes {
			filter := f.name + " " + op.odata + " " + odataLiteral(f.of, text)
			got, _ := m.get(t, m.url+"/odata/Mixed?$select=ID&$filter="+url.QueryEscape(filter), "")
			check("OData", got)
		}
		if op.whctl != "" {
			out := m.whctl.run(t, "query", "Mixed", "--where", f.name+op.whctl+text, "--fields", "ID", "--csv")
			var got []int64
			for line := range strings.Lines(out.stdout) {
				if id, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err == nil {
					got = append(got, id)
				}
			}
			if out.code != 0 {
				t.Errorf("whctl --where %s%s%s: exit %d: %s", f.name, op.whctl, text, out.code, out.stderr)
			}
			check("whctl", got)
		}
	}
	t.Logf("%d cases", n)
}

// TestMixedPagesInPrograms: pages by Skip, by Cursor and by nextLink have the rows of one read, in
// its order.
func TestMixedPagesInPrograms(t *testing.T) { onBoth(t, checkMixedPages) }

func checkMixedPages(t *testing.T, m *mixedPrograms) {
	for i, f := range m.fields {
		order, direction := "OrderBy", "asc"
		if i%2 == 1 {
			order, direction = "OrderByDesc", "desc"
		}
		base := m.url + "/Queries/Mixed.json?Fields=ID&" + order + "=" + f.name
		want, _ := m.get(t, base+"&Cursor=", "")
		if len(want) != m.rows {
			t.Fatalf("one read has %d rows", len(want))
		}
		pages := map[string]func() []int64{
			"Cursor": func() (all []int64) {
				next := ""
				for {
					ids, following := m.get(t, base+"&Take=9&Cursor="+next, "")
					all = append(all, ids...)
					next = following
					if next == "" || len(all) > 2*len(want) {
						return all
					}
				}
			},
			"nextLink": func() (all []int64) {
				address := m.url + "/odata/Mixed?$select=ID&$orderby=" + url.QueryEscape(f.name+" "+direction)
				for address != "" && len(all) <= 2*len(want) {
					ids, following := m.get(t, address, "odata.maxpagesize=9")
					all = append(all, ids...)
					address = following
				}
				return all
			},
		}
		for name, read := range pages {
			if got := read(); !slices.Equal(got, want) {
				t.Errorf("%s by %s of %s as %s %s:\ngot  %v\nwant %v", name, f.name, f.declared, f.of, direction, got, want)
			}
		}
		skipped, _ := m.get(t, base, "")
		var got []int64
		for skip := 0; skip < len(want); skip += 9 {
			ids, _ := m.get(t, base+"&Take=9&Skip="+strconv.Itoa(skip), "")
			got = append(got, ids...)
		}
		if !slices.Equal(got, skipped) {
			t.Errorf("Skip by %s of %s as %s:\ngot  %v\nwant %v", f.name, f.declared, f.of, got, skipped)
		}
	}
}
