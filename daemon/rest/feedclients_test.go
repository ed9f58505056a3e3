package rest_test

import (
	"bufio"
	"encoding/json"
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
	out := runIn(t, copyFeedTool(t, tools, program), "node", program, c.url, strings.TrimPrefix(c.headers[0], "Authorization: "))
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

func copyFeedTool(t *testing.T, tools, program string) (dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "feeds", program))
	if err == nil {
		err = os.WriteFile(filepath.Join(tools, program), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// TestFeedsInTools validates the metadata of the built-in kinds against the schemas of OASIS,
// and reads records with a client that odata2ts generates from it, with DevExtreme's ODataStore,
// with Syncfusion's data manager, o.js and odata-query, and with Stimulsoft Reports.JS.
func TestFeedsInTools(t *testing.T) {
	tools := clientstest.NodeModules(t, "odata")
	i := daemontest.Start(t, "--demo", "--query-time-zone", feedZone)
	c := asAdmin(t, i)
	clientstest.CheckMetadata(t, tools, c.do("GET /odata/$metadata", "").want(t, 200).body, "all")

	t.Run("odata2ts", func(t *testing.T) {
		queries := 0
		for _, line := range feedTool(t, tools, "generated.js", c) {
			var q struct {
				Kind, Rest string
				Count      int
				Keys       []string
			}
			if err := json.Unmarshal([]byte(line), &q); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			queries++
			kind, _ := record.Builtin().Lookup(q.Kind)
			var want []string
			for _, row := range c.restRows(kind, q.Rest) {
				want = append(want, keyOf(row, kind.Fields[0].Name))
			}
			if !slices.Equal(q.Keys, want) || q.Count < len(want) {
				t.Errorf("%s %s: %d rows of %d, want %d", q.Kind, q.Rest, len(q.Keys), q.Count, len(want))
			}
		}
		if queries < 60 {
			t.Errorf("only %d queries", queries)
		}
	})
	t.Run("DevExtreme", func(t *testing.T) {
		kind, _ := record.Builtin().Lookup("SO_Totals")
		const conditions = "InvoiceTotalGreaterThan=100&InvoiceIDStartsWith=D1&Fields=InvoiceID,InvoiceTotal"
		var page []string
		for _, row := range c.restRows(kind, conditions+"&OrderBy=-InvoiceTotal,InvoiceID&Take=40") {
			page = append(page, keyOf(row, "InvoiceID"))
		}
		documents, _ := record.Builtin().Lookup("CR_BatchTransDocuments")
		counts := map[int]int{
			2: len(c.restRows(kind, "Cartage3TotalIsNull=1")), 4: len(c.restRows(kind, "InvoiceTotalGreaterThanOrEqualTo=0")),
			5: len(c.restRows(documents, "LastSavedDateTimeGreaterThanOrEqualTo=2025-01-01")),
		}
		count := len(c.restRows(kind, conditions)) + len(c.restRows(kind, "InvoiceTotalIsNull=1&InvoiceIDStartsWith=D1"))
		for n, line := range feedTool(t, tools, "store.js", c) {
			var got struct {
				Keys  []string
				Count int
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			switch n {
			case 0, 1:
				if got.Count != count || !slices.Equal(got.Keys, page[20*n:20*n+20]) {
					t.Errorf("page %d: %s, want %d rows, %v", n, line, count, page[20*n:20*n+20])
				}
			case 3:
				if !slices.Equal(got.Keys, []string{"00120"}) {
					t.Error(line)
				}
			default:
				if want := counts[n]; got.Count != want || want == 0 {
					t.Errorf("line %d: %s, want %d", n, line, want)
				}
			}
		}
	})
	t.Run("Adaptors", func(t *testing.T) { compareAdaptors(t, tools, c) })
	t.Run("Stimulsoft", func(t *testing.T) { refreshReport(t, i, c) })
}

// adaptorQueries are the queries of adaptors.mjs by REST: those of the page, and of all rows if
// the program counts them.
var adaptorQueries = map[string]struct{ kind, page, all string }{
	"syncfusion page":   {"SO_Totals", "OrderBy=-InvoiceTotal,-InvoiceID&Skip=20&Take=20", "Fields=InvoiceID"},
	"syncfusion filter": {"SO_Totals", "InvoiceTotalGreaterThan=24000&InvoiceIDStartsWith=d10&OrderBy=InvoiceID&Take=50", "InvoiceTotalGreaterThan=24000&InvoiceIDStartsWith=d10"},
	"syncfusion search": {"IN_Colours", "DescriptionContains=e&OrderBy=RecID&Take=30", "DescriptionContains=e"},
	"o.js rows":         {"SO_Totals", "InvoiceTotalLessThan=100&OrderBy=InvoiceID&Take=20", ""},
	"o.js key":          {"SO_Totals", "InvoiceID=00120", ""},
	"odata-query in":    {"SO_Totals", "InvoiceIDIn=00120,D000001&OrderBy=InvoiceID", "InvoiceIDIn=00120,D000001"},
	"odata-query or":    {"SO_Totals", "", "InvoiceTotalLessThan=50&Cartage3TotalIsNotNull=1 + InvoiceTotalGreaterThan=24500&Cartage3TotalIsNotNull=1"},
	"odata-query text":  {"IN_Colours", "DescriptionContains=e&OrderBy=RecID&Take=10", "DescriptionContains=e"},
}

// compareAdaptors runs adaptors.mjs. Syncfusion's data manager is a part of a commercial
// product with a free licence for small companies; npm installs it for this test only.
func compareAdaptors(t *testing.T, tools string, c client) {
	c.t = t
	lines := feedTool(t, tools, "adaptors.mjs", c)
	if len(lines) != len(adaptorQueries) {
		t.Errorf("%d lines, want %d", len(lines), len(adaptorQueries))
	}
	for _, line := range lines {
		var got struct {
			Name  string
			Count int
			Keys  []string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		q := adaptorQueries[got.Name]
		kind, _ := record.Builtin().Lookup(q.kind)
		if q.page != "" {
			var want []string
			for _, row := range c.restRows(kind, q.page) {
				want = append(want, keyOf(row, kind.Fields[0].Name))
			}
			if !slices.Equal(got.Keys, want) {
				t.Errorf("%s: %q, want %q", got.Name, got.Keys, want)
			}
		}
		if q.all != "" {
			want := len(c.restRows(kind, q.all))
			if got.Count != want {
				t.Errorf("%s counted %d rows, want %d", got.Name, got.Count, want)
			}
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
	cmd := exec.CommandContext(t.Context(), clientstest.Tool(t, "node"), "report.js", c.url, strings.TrimPrefix(c.headers[0], "Authorization: "))
	cmd.Dir = copyFeedTool(t, clientstest.NodeModules(t, "reports"), "report.js")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, _, _ := strings.Cut(lines.Text(), " ")
		if word != "tables" && word != "rows" { // a note about its licence
			continue
		}
		if got = append(got, lines.Text()); len(got) == 2 {
			conn, err := sqlite.Open(filepath.Join(i.Dir, "records.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Exec(`UPDATE IN_Colours SET Description = 'Refreshed' WHERE RecID = '00000000-0000-0000-0000-000000000001'`); err != nil {
				t.Fatal(err)
			}
			conn.Close()
			if _, err := in.Write([]byte("refresh\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || strings.Count(got[0], ",") != 13 || got[1] == got[2] || !strings.HasSuffix(got[2], "00000000-0000-0000-0000-000000000001=Refreshed") {
		t.Errorf("%q", got)
	}
}
