package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func TestQueryRequestBody(t *testing.T) {
	for _, c := range []struct {
		args     string
		terminal bool
		want     string
	}{
		{args: "query so_totals", want: `{"Strict":true}`},
		{args: "query SO_TotalsQuery --all", want: `{"Strict":true}`},
		{
			args:     "query SO_Totals",
			terminal: true,
			want:     `{"Include":"Total","OrderBy":"InvoiceID","Strict":true,"Take":50}`,
		},
		{args: "query SO_Totals --all", terminal: true, want: `{"Strict":true}`},
		{args: "query SO_Totals --csv", terminal: true, want: `{"Strict":true}`},
		{args: "query SO_Totals --table", want: `{"Strict":true}`},
		{
			args:     "query SO_Totals -n 3 --skip 6",
			terminal: true,
			want:     `{"Include":"Total","OrderBy":"InvoiceID","Skip":6,"Strict":true,"Take":3}`,
		},
		{args: "query SO_Totals -n 5000", terminal: true, want: `{"OrderBy":"InvoiceID","Strict":true,"Take":5000}`},
		{
			args:     "query SO_Totals --all=false -n 1",
			terminal: true,
			want:     `{"Include":"Total","OrderBy":"InvoiceID","Strict":true,"Take":1}`,
		},
		{args: "query SO_Totals --count=false --all", terminal: true, want: `{"Strict":true}`},
		{args: "query SO_Totals --take 0", want: `{"OrderBy":"InvoiceID","Strict":true,"Take":0}`},
		{
			args: "query SO_Totals --count -w InvoiceID=D1",
			want: `{"Include":"Total","InvoiceID":"D1","Strict":true,"Take":0}`,
		},
		{
			args: "query SO_Totals --fields invoicetotal,INVOICEID --fields Cartage1Total",
			want: `{"Fields":"InvoiceTotal,InvoiceID,Cartage1Total","Strict":true}`,
		},
		{
			args: "query SO_Totals --order-by -invoicetotal;InvoiceID, --order-by=cartage1total",
			want: `{"OrderBy":"-InvoiceTotal,InvoiceID,Cartage1Total","Strict":true}`,
		},
		{
			args: "query SO_Totals -w invoicetotal>=1 --where InvoiceTotal<2",
			want: `{"InvoiceTotalGreaterThanOrEqualTo":"1","InvoiceTotalLessThan":"2","Strict":true}`,
		},
		{
			args: "query BM_Inputs -w SubAssemblyExplodePolicyIn=1,2",
			want: `{"Strict":true,"SubAssemblyExplodePolicyIn":"AQI="}`,
		},
		{
			args: "query IN_KitStockTakeMain -w LastSavedDateTime>=-7d",
			want: `{"LastSavedDateTimeGreaterThanOrEqualTo":"2026-07-01","Strict":true}`,
		},
	} {
		var body string
		inv := invocation{handler: recordBody(&body, rows(0)), terminal: c.terminal}
		got := inv.run(t, strings.Fields(c.args)...)
		if got.code != 0 || body != c.want {
			t.Errorf("whctl %s: sent %s, want %s; %v", c.args, body, c.want, got)
		}
	}
}

const (
	d1 = `{"InvoiceID":"D1","InvoiceTotal":40002.1500}`
	d2 = `{"InvoiceID":"D2"}`
)

func TestQueryOutput(t *testing.T) {
	fields := "query SO_Totals --fields InvoiceID,InvoiceTotal "
	table := "InvoiceID  InvoiceTotal\nD1           40002.1500\nD2\n"
	for _, c := range []struct {
		args     string
		terminal bool
		stdout   string
		stderr   string
	}{
		{args: fields, stdout: "InvoiceID,InvoiceTotal\nD1,40002.1500\nD2,\n"},
		{args: fields, terminal: true, stdout: table, stderr: "2 of 12,403 rows  (--all for all)\n"},
		{args: fields + "-q", terminal: true, stdout: table},
		{args: fields + "-n 2", terminal: true, stdout: table, stderr: "2 of 12,403 rows\n"},
		{args: fields + "--all", terminal: true, stdout: table, stderr: "2 rows\n"},
		{args: fields + "--table", stdout: table, stderr: "2 rows\n"},
		{args: fields + "--tsv", terminal: true, stdout: "InvoiceID\tInvoiceTotal\nD1\t40002.1500\nD2\t\n"},
		{args: fields + "--json", terminal: true, stdout: "[\n" + d1 + ",\n" + d2 + "\n]\n"},
		{args: fields + "--format NDJSON", terminal: true, stdout: d1 + "\n" + d2 + "\n"},
		{
			args:     fields + "--no-color -o -",
			terminal: true,
			stdout:   table,
			stderr:   "2 of 12,403 rows  (--all for all)\n",
		},
		{args: "query SO_Totals --count", terminal: true, stdout: "12403\n"},
	} {
		inv := invocation{handler: rows(12403, d1, d2), terminal: c.terminal}
		got := inv.run(t, strings.Fields(c.args)...)
		want := result{stdout: c.stdout, stderr: c.stderr}
		if got != want {
			t.Errorf("whctl %s, terminal %t:\ngot  %v\nwant %v", c.args, c.terminal, got, want)
		}
	}
}

func TestQueryNotices(t *testing.T) {
	limited := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.HeaderTakeClamped, "100")
		w.Header().Set(wire.HeaderIgnoredMembers, "Colour")
		rows(1, d1)(w, r)
	}
	for _, format := range []string{"csv", "raw:json"} {
		got := invocation{handler: limited}.run(t, "query", "SO_Totals", "--format", format)
		want := "the service returns at most 100 rows per request\nthe service ignored Colour\n"
		if !strings.HasPrefix(got.stderr, want) { // the reply has no digest for raw formats
			t.Errorf("whctl query --format %s: got stderr %q, want %q", format, got.stderr, want)
		}
	}
}

// TestQuerySuggestsOperators checks that conditions in the style of other programs, which no row
// meets, lead to a suggestion of the operator here.
func TestQuerySuggestsOperators(t *testing.T) {
	for where, want := range map[string]string{
		"InvoiceID=D1*":  "InvoiceID^=D1",
		"InvoiceID=*D1*": "InvoiceID*=D1",
		"InvoiceID=*D1":  "InvoiceID*=D1",
		"InvoiceID~=D1":  "InvoiceID*=D1",
		"InvoiceID~=D1%": "", // none
		"InvoiceID=*":    "",
		"InvoiceID~=*":   "",
	} {
		got := invocation{handler: rows(0)}.run(t, "query", "SO_Totals", "--where", where)
		hint := "did you mean " + want + " instead of " + where
		if want == "" {
			hint = "did you mean"
		}
		if strings.Contains(got.stderr, hint) != (want != "") {
			t.Errorf("whctl query --where %s: got stderr %q, want the suggestion %q",
				where, got.stderr, want)
		}
	}
}

// TestQueryOutputFile writes rows to a file, and then checks that a failed query changes neither it
// nor its directory.
func TestQueryOutputFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "totals.csv")
	inv := invocation{handler: rows(2, d1, d2), terminal: true}
	got := inv.run(t, "query", "SO_Totals", "--fields", "InvoiceID", "-o", path)
	if want := (result{stderr: "2 rows written to " + path + "\n"}); got != want {
		t.Errorf("whctl query -o FILE: got %v; want %v", got, want)
	}
	wantFile(t, path, "InvoiceID\nD1\nD2\n")

	for name, handler := range map[string]http.HandlerFunc{
		"broken off":   truncatedReply,
		"too few rows": wrongRowCount,
		"rejected":     status(400, "ArgumentException"),
	} {
		got := invocation{handler: handler}.run(t, "query", "DB_Class", "-o", path)
		if got.code == 0 {
			t.Errorf("whctl query -o FILE, reply %s: got exit code 0, want a failure", name)
		}
		wantFile(t, path, "InvoiceID\nD1\nD2\n")
	}
	files, err := fs.Glob(os.DirFS(filepath.Dir(path)), filepath.Base(path)+"*")
	if err != nil || len(files) != 1 {
		t.Errorf("after failed queries: got the files %q (%v), want only the first one", files, err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", path, text, err, want)
	}
}

// TestQueryOutputToLinkAndDevice checks that -o replaces the target of a symbolic link and keeps its
// mode, writes to a device, and refuses a directory.
func TestQueryOutputToLinkAndDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and devices differ on Windows")
	}
	inv := invocation{handler: rows(1, d1)}
	query := []string{"query", "SO_Totals", "--fields", "InvoiceID", "-o"}
	dir := t.TempDir()

	t.Run("link", func(t *testing.T) {
		target := filepath.Join(dir, "target")
		link := filepath.Join(dir, "link")
		if err := os.WriteFile(target, []byte("old"), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if got := inv.run(t, append(query, link)...); got.code != 0 {
			t.Errorf("whctl query -o LINK: got %v; want exit code 0", got)
		}
		wantFile(t, target, "InvoiceID\nD1\n")
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is now %v, %v; want a link", info, err)
		}
		if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the target is now %v, %v; want the mode 0640", info, err)
		}
	})
	t.Run("device", func(t *testing.T) {
		if got := inv.run(t, append(query, os.DevNull)...); got.code != 0 {
			t.Errorf("whctl query -o %s: got %v; want exit code 0", os.DevNull, got)
		}
		if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
			t.Errorf("the device is now %v, %v; want a device", info, err)
		}
	})
	t.Run("directory", func(t *testing.T) {
		got := invocation{}.run(t, append(query, dir)...)
		if got.code != 1 || !strings.Contains(got.stderr, "is a directory") {
			t.Errorf("whctl query -o DIR: got %v; want exit code 1 and the reason", got)
		}
	})
}

// TestTerminalOutputIsSanitized checks that output to a terminal is sanitized in all formats, and
// output to a file is not.
func TestTerminalOutputIsSanitized(t *testing.T) {
	const row = `{"Class":"\u001b]0;owned\u0007 \u009b31m \u202etxt ` + "\u009b\u007f" + `"}`
	inv := invocation{handler: rows(1, row), terminal: true}
	for _, format := range streaming() {
		got := inv.run(t, "query", "DB_Class", "--format", format)
		i := strings.IndexAny(got.stdout, "\x1b\x07\x7f\u009b\u202e")
		if got.code != 0 || i >= 0 {
			t.Errorf("%s on a terminal: a control character at %d in %v", format, i, got)
		}
	}

	path := filepath.Join(t.TempDir(), "out")
	inv.run(t, "query", "DB_Class", "--format", "csv", "-o", path)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "\x1b]0;owned\x07") {
		t.Errorf("csv to a file: got %q, %v; want the control characters of the row", text, err)
	}
}

func TestInterruptedStream(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupting := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, `{"Class":"A"}`+"\n"+`{"Class":"B"}`+"\n")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}
	got := invocation{ctx: ctx, handler: interrupting}.run(t, "query", "DB_Class")
	if got.code != 130 || !strings.HasPrefix(got.stderr, "whctl: interrupted") {
		t.Errorf("interrupting whctl query: got %v; want exit code 130 and the reason", got)
	}
}

func TestRecords(t *testing.T) {
	got := invocation{}.run(t, "records", "--json")
	var kinds []struct {
		Record string
		Fields int
	}
	if err := json.Unmarshal([]byte(got.stdout), &kinds); err != nil {
		t.Fatalf("whctl records --json: %v in %v", err, got)
	}
	if want := len(record.Builtin().Kinds()); len(kinds) != want {
		t.Fatalf("whctl records --json: got %d kinds, want %d", len(kinds), want)
	}
	if kinds[4].Record != "DB_Class" || kinds[4].Fields != 1 {
		t.Errorf("whctl records --json: got %+v as the fifth kind, want DB_Class with 1 field", kinds[4])
	}

	golden(t, "records", invocation{terminal: true}.run(t, "records").stdout)
	single := invocation{terminal: true}.run(t, "records", "bm_inputs")
	golden(t, "records-one", single.stdout+"--\n"+single.stderr)

	piped := invocation{}.run(t, "records", "DB_Class")
	want := result{stdout: "Field,Type,Operators\nClass,string,= ^= $= *= ~= between in\n"}
	if piped != want {
		t.Errorf("whctl records DB_Class in a pipe: got %v; want %v", piped, want)
	}
}

func TestHelp(t *testing.T) {
	var pages strings.Builder
	for _, name := range append(commandNames(), "") {
		got := invocation{}.run(t, strings.Fields("help "+name)...)
		if got.code != 0 || got.stderr != "" {
			t.Errorf("whctl help %s: got %v; want exit code 0 and no stderr", name, got)
		}
		fmt.Fprintf(&pages, "=== whctl help %s\n%s\n", name, got.stdout)
	}
	golden(t, "help", pages.String())

	for args, want := range map[string]string{
		"query --help":                    "whctl query: ",
		"-h query SO_Totals":              "whctl query: ",
		"query --nope -h":                 "whctl query: ",
		"query SO_Totals --take x --help": "whctl query: ",
		"":                                "whctl: ",
	} {
		got := invocation{}.run(t, strings.Fields(args)...)
		if got.code != 0 || !strings.HasPrefix(got.stdout, want) {
			t.Errorf("whctl %s: got %v; want exit code 0, help that starts with %q", args, got, want)
		}
	}
}

// commandNames returns all commands and topics with help.
func commandNames() []string {
	var names []string
	for _, c := range testApp().Commands {
		names = append(names, c.Name)
		for _, l := range leaves(c.Subcommands, c.Name) {
			names = append(names, l.String())
		}
	}
	for _, t := range topics(testApp()) {
		names = append(names, t.name)
	}
	return names
}

func TestVersion(t *testing.T) {
	want := invocation{}.run(t, "version", "--program-only")
	if want.code != 0 || !strings.HasPrefix(want.stdout, "whctl ") {
		t.Errorf("whctl version: got %v; want exit code 0 and the version", want)
	}
	for _, args := range []string{"--version", "-V", "query -V SO_Totals"} {
		if got := (invocation{}).run(t, strings.Fields(args)...); got != want {
			t.Errorf("whctl %s: got %v; want %v", args, got, want)
		}
	}
}

// TestVersionOfService prints the version of the service, and points out mistakes in the settings.
func TestVersionOfService(t *testing.T) {
	inv := invocation{handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"Version":"1.2.3"}`)
	}}
	got := inv.run(t, "version")
	if got.code != 0 || !strings.HasSuffix(got.stdout, "\nservice 1.2.3\n") || got.stderr != "" {
		t.Errorf("whctl version: got %v; want the version of the service", got)
	}

	inv.config = writeConfig(t, "profile = 'prod'\n[profiles.prod]\nca_file = '/missing.pem'\n")
	got = inv.run(t, "version")
	isNoted := strings.HasPrefix(got.stderr, "the version of the service is not known: ") &&
		strings.Contains(got.stderr, "missing.pem")
	if got.code != 0 || !isNoted || strings.Contains(got.stdout, "service") {
		t.Errorf("whctl version without its ca_file: got %v; want a notice about the file", got)
	}
}

// BenchmarkExport prints a large stream in each format.
func BenchmarkExport(b *testing.B) {
	const line = `{"InvoiceID":"D100512","InvoiceTotal":40002.1500,"Cartage1Total":12.5000,"Cartage1TaxTotal":1.2500,` +
		`"Cartage2Total":0.0000,"Cartage2TaxTotal":0.0000,"Cartage3Total":0.0000,"Cartage3TaxTotal":0.0000}` + "\n"
	for _, format := range output.FormatNames() {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			stream := func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/x-ndjson")
				w.Header().Set("Trailer", wire.HeaderRowCount)
				const pieceRows = 300
				piece := strings.Repeat(line, pieceRows)
				for remaining := b.N; remaining > 0; remaining -= pieceRows {
					io.WriteString(w, piece[:min(remaining, pieceRows)*len(line)])
				}
				w.Header().Set(wire.HeaderRowCount, fmt.Sprint(b.N))
			}
			inv := invocation{handler: stream}
			got := inv.run(b, "query", "SO_Totals", "--format", format, "-o", os.DevNull)
			if got.code != 0 {
				b.Fatalf("whctl query --format %s: %v", format, got)
			}
		})
	}
}
