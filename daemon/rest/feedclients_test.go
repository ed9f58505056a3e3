package rest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// feedTool runs a program of testdata/feeds with the libraries in tools, and returns its
// lines.
func feedTool(t *testing.T, tools, program string, c client) []string {
	t.Helper()
	copyFeedTool(t, tools, program)
	out := runIn(t, tools, "node", program, c.url, authorization(c))
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

// authorization returns the value of the header Authorization.
func authorization(c client) string {
	return strings.TrimPrefix(c.headers[0], "Authorization: ")
}

// copyFeedTool copies a program of testdata/feeds to the libraries in tools.
func copyFeedTool(t *testing.T, tools, program string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "feeds", program))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, program), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFeedsInTools validates the metadata of the built-in kinds against the schemas of OASIS,
// and reads records with a client that odata2ts generates from it, with DevExtreme's ODataStore,
// with Syncfusion's data manager, o.js and odata-query, and with Stimulsoft Reports.JS.
func TestFeedsInTools(t *testing.T) {
	tools := clientstest.NodeModules(t, "odata")
	i := daemontest.Start(t, "--demo", "--query-time-zone", feedZone)
	c := asAdmin(t, i)
	clientstest.CheckMetadata(t, tools, c.do("GET /odata/$metadata", "").want(t, 200).body, "all")

	// Syncfusion's data manager is a part of a commercial product with a free licence for small
	// companies; npm installs it for this test only.
	t.Run("odata2ts", func(t *testing.T) { compareGenerated(t, tools, c.inSubtest(t)) })
	t.Run("DevExtreme", func(t *testing.T) { compareQueries(t, tools, "store.js", c.inSubtest(t), storeQueries) })
	t.Run("Adaptors", func(t *testing.T) { compareQueries(t, tools, "adaptors.mjs", c.inSubtest(t), adaptorQueries) })
	t.Run("Stimulsoft", func(t *testing.T) { refreshReport(t, i, c.inSubtest(t)) })
}

// inSubtest returns the client for a subtest.
func (c client) inSubtest(t *testing.T) client {
	c.t = t
	return c
}

// minGenerated is the minimum number of queries of generated.js.
const minGenerated = 60

// compareGenerated runs generated.js. Its lines have the same query by REST.
func compareGenerated(t *testing.T, tools string, c client) {
	lines := feedTool(t, tools, "generated.js", c)
	if len(lines) < minGenerated {
		t.Errorf("%d queries, want at least %d", len(lines), minGenerated)
	}
	for _, line := range lines {
		var got struct {
			Kind, Rest string
			Count      int
			Keys       []string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		want := restKeys(c, got.Kind, got.Rest)
		if !slices.Equal(got.Keys, want) {
			t.Errorf("%s %s: %d rows, want %d: %q, want %q",
				got.Kind, got.Rest, len(got.Keys), len(want), got.Keys, want)
		}
		if got.Count < len(want) {
			t.Errorf("%s %s counted %d rows, want at least %d", got.Kind, got.Rest, got.Count, len(want))
		}
	}
}

// restKeys returns the keys of the rows of queries by REST, in their order.
func restKeys(c client, kindName, queries string) []string {
	c.t.Helper()
	kind, _ := record.Builtin().Lookup(kindName)
	var keys []string
	for _, row := range c.restRows(kind, queries) {
		keys = append(keys, keyOf(row, kind.Fields[0].Name))
	}
	return keys
}

// toolQuery has the members of a tool's query by REST. " + " joins queries; their rows are
// added up, since REST has no "or".
type toolQuery struct {
	kind string
	page string // has the rows that the tool reads; empty: they are not compared
	all  string // has the rows that the tool counts; empty: it does not count
}

// storeQueries are the queries of store.js. It excludes totals of at most 100 by a negation, which
// rows without a total meet, too: its count has them.
var storeQueries = map[string]toolQuery{
	"first page": {
		kind: "SO_Totals",
		page: "InvoiceTotalGreaterThan=100&InvoiceIDStartsWith=D1&OrderBy=-InvoiceTotal,InvoiceID&Take=20",
		all:  "InvoiceTotalGreaterThan=100&InvoiceIDStartsWith=D1 + InvoiceTotalIsNull=1&InvoiceIDStartsWith=D1",
	},
	"second page": {
		kind: "SO_Totals",
		page: "InvoiceTotalGreaterThan=100&InvoiceIDStartsWith=D1&OrderBy=-InvoiceTotal,InvoiceID&Skip=20&Take=20",
		all:  "InvoiceTotalGreaterThan=100&InvoiceIDStartsWith=D1 + InvoiceTotalIsNull=1&InvoiceIDStartsWith=D1",
	},
	"count of nulls": {
		kind: "SO_Totals",
		all:  "Cartage3TotalIsNull=1",
	},
	"key": {
		kind: "SO_Totals",
		page: "InvoiceID=00120",
	},
	"all pages": {
		kind: "SO_Totals",
		all:  "InvoiceTotalGreaterThanOrEqualTo=0",
	},
	"dates": {
		kind: "CR_BatchTransDocuments",
		all:  "LastSavedDateTimeGreaterThanOrEqualTo=2025-01-01",
	},
}

// adaptorQueries are the queries of adaptors.mjs.
var adaptorQueries = map[string]toolQuery{
	"syncfusion page": {
		kind: "SO_Totals",
		page: "OrderBy=-InvoiceTotal,-InvoiceID&Skip=20&Take=20",
		all:  "Fields=InvoiceID",
	},
	"syncfusion filter": {
		kind: "SO_Totals",
		page: "InvoiceTotalGreaterThan=24000&InvoiceIDStartsWith=d10&OrderBy=InvoiceID&Take=50",
		all:  "InvoiceTotalGreaterThan=24000&InvoiceIDStartsWith=d10",
	},
	"syncfusion search": {
		kind: "IN_Colours",
		page: "DescriptionContains=e&OrderBy=RecID&Take=30",
		all:  "DescriptionContains=e",
	},
	"o.js rows": {
		kind: "SO_Totals",
		page: "InvoiceTotalLessThan=100&OrderBy=InvoiceID&Take=20",
	},
	"o.js key": {
		kind: "SO_Totals",
		page: "InvoiceID=00120",
	},
	"odata-query in": {
		kind: "SO_Totals",
		page: "InvoiceIDIn=00120,D100001&OrderBy=InvoiceID",
		all:  "InvoiceIDIn=00120,D100001",
	},
	"odata-query or": {
		kind: "SO_Totals",
		all:  "InvoiceTotalLessThan=50&Cartage3TotalIsNotNull=1 + InvoiceTotalGreaterThan=24500&Cartage3TotalIsNotNull=1",
	},
	"odata-query text": {
		kind: "IN_Colours",
		page: "DescriptionContains=e&OrderBy=RecID&Take=10",
		all:  "DescriptionContains=e",
	},
}

// compareQueries runs a program that prints a line for each of its queries: its name, the keys of
// a page, and the number of all rows.
func compareQueries(t *testing.T, tools, program string, c client, queries map[string]toolQuery) {
	seen := make(map[string]bool)
	for _, line := range feedTool(t, tools, program, c) {
		var got struct {
			Name  string
			Count int
			Keys  []string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		q, expected := queries[got.Name]
		if !expected || seen[got.Name] {
			t.Errorf("an unknown or repeated query: %s", line)
			continue
		}
		seen[got.Name] = true
		if q.page != "" {
			want := restKeys(c, q.kind, q.page)
			if len(want) == 0 || !slices.Equal(got.Keys, want) {
				t.Errorf("%s: %q, want %q", got.Name, got.Keys, want)
			}
		}
		if q.all != "" {
			want := len(restKeys(c, q.kind, q.all))
			if want == 0 || got.Count != want {
				t.Errorf("%s counted %d rows, want %d", got.Name, got.Count, want)
			}
		}
	}

	// Node.js ends with status 0 if a promise is never settled.
	for name := range queries {
		if !seen[name] {
			t.Errorf("%s has not printed the line %q", program, name)
		}
	}
}

// keyOf returns the value of a field in a row of restRows.
func keyOf(row, field string) string {
	_, key, _ := strings.Cut("\n"+row, "\n"+field+"=")
	key, _, _ = strings.Cut(key, "\n")
	return key
}

// refreshReport loads records into a report, changes one and refreshes the report. Stimulsoft
// Reports.JS is the trial of a commercial program. npm installs it for this test only, in a
// locked version; it is no part of a release. It stays since it loads and refreshes OData as an
// office program does: LibreOffice cannot, and npm has only libraries for that under free
// licences, such as odata2ts above.
func refreshReport(t *testing.T, i *daemontest.Instance, c client) {
	report := startReport(t, c)
	tables := report.next(t, "tables")
	before := report.next(t, "rows")
	updateColour(t, i)
	report.refresh(t)
	after := report.next(t, "rows")
	if err := report.cmd.Wait(); err != nil {
		t.Fatal(err)
	}

	var kinds []string
	for _, k := range record.Builtin().Kinds() {
		kinds = append(kinds, k.Name)
	}
	slices.Sort(kinds)
	if want := strings.Join(kinds, ","); tables != want {
		t.Errorf("the tables are %s, want the built-in kinds %s", tables, want)
	}
	if before == after {
		t.Errorf("the rows are the same before and after a change: %s", after)
	}
	if want := firstColour + "=Refreshed"; !strings.HasSuffix(after, want) {
		t.Errorf("the rows after a change are %s, want the first %s", after, want)
	}
}

// firstColour is the key of the record that is changed.
const firstColour = "00042d07-ec27-4707-b868-14d73e68c3a5"

// updateColour changes a record as the ERP does.
func updateColour(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(i.Dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(`UPDATE IN_Colours SET Description = 'Refreshed' WHERE RecID = '` + firstColour + `'`); err != nil {
		t.Fatal(err)
	}
}

// report is report.js. It prints the tables and the rows, and the rows again after refresh.
type report struct {
	cmd   *exec.Cmd
	in    io.Writer
	lines *bufio.Scanner
}

func startReport(t *testing.T, c client) *report {
	t.Helper()
	tools := clientstest.NodeModules(t, "reports")
	copyFeedTool(t, tools, "report.js")
	cmd := exec.CommandContext(t.Context(), clientstest.Tool(t, "node"), "report.js", c.url, authorization(c))
	cmd.Dir = tools
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &report{cmd: cmd, in: in, lines: bufio.NewScanner(out)}
}

// next returns the next line that starts with a word, without the word. The lines between are
// notes about the licence.
func (r *report) next(t *testing.T, word string) string {
	t.Helper()
	for r.lines.Scan() {
		text, ok := strings.CutPrefix(r.lines.Text(), word+" ")
		if ok {
			return text
		}
	}
	t.Fatalf("report.js ended without a line %q: %v", word, r.lines.Err())
	return ""
}

func (r *report) refresh(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(r.in, "refresh\n"); err != nil {
		t.Fatal(err)
	}
}
