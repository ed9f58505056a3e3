package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
		got := invocation{handler: recordBody(&body, rows(0)), terminal: c.terminal}.run(t, strings.Fields(c.args)...)
		if got.code != 0 || body != c.want {
			t.Errorf("%s: exit %d, sent %s, want %s\n%s", c.args, got.code, body, c.want, got.stderr)
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
		got := invocation{handler: rows(12403, d1, d2), terminal: c.terminal}.run(t, strings.Fields(c.args)...)
		if got.code != 0 || got.stdout != c.stdout || got.stderr != c.stderr {
			t.Errorf("%s: exit %d\n%s%s; want\n%s%s", c.args, got.code, got.stdout, got.stderr, c.stdout, c.stderr)
		}
	}
}

func TestQueryNotices(t *testing.T) {
	got := invocation{handler: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.HeaderTakeClamped, "100")
		w.Header().Set(wire.HeaderIgnoredMembers, "Colour")
		rows(1, d1)(w, r)
	}}.run(t, "query", "SO_Totals")
	if want := "the service returns at most 100 rows per request\nthe service ignored Colour\n"; got.stderr != want {
		t.Errorf("stderr %q, want %q", got.stderr, want)
	}
}

// Without a row, a condition in the style of other programs suggests the operator here.
func TestQuerySuggestsOperators(t *testing.T) {
	for where, want := range map[string]string{
		"InvoiceID=D1*":  "InvoiceID^=D1",
		"InvoiceID=*D1*": "InvoiceID*=D1",
		"InvoiceID=*D1":  "InvoiceID*=D1",
		"InvoiceID~=D1":  "InvoiceID*=D1",
		"InvoiceID~=D1%": "",
	} {
		got := invocation{handler: rows(0)}.run(t, "query", "SO_Totals", "--where", where)
		if suggested := strings.Contains(got.stderr, "did you mean "+want+" instead of "+where); suggested != (want != "") {
			t.Errorf("%s: %q, want %q", where, got.stderr, want)
		}
	}
}

func TestQueryOutputFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "totals.csv")
	got := invocation{handler: rows(2, d1, d2), terminal: true}.run(t, "query", "SO_Totals", "--fields", "InvoiceID", "-o", path)
	if got.code != 0 || got.stdout != "" || got.stderr != "2 rows written to "+path+"\n" {
		t.Errorf("%+v", got)
	}
	wantFile(t, path, "InvoiceID\nD1\nD2\n")

	// A failed query does not change the file and leaves no other file.
	for name, h := range map[string]http.HandlerFunc{
		"broken off":   truncatedReply,
		"too few rows": wrongRowCount,
		"rejected":     status(400, "ArgumentException"),
	} {
		if got := (invocation{handler: h}).run(t, "query", "DB_Class", "-o", path); got.code == 0 {
			t.Errorf("%s: exit 0", name)
		}
		wantFile(t, path, "InvoiceID\nD1\nD2\n")
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", path, text, err, want)
	}
}

func TestQueryOutputToLinkAndDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and devices differ on Windows")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if got := (invocation{handler: rows(1, d1)}).run(t, "query", "SO_Totals", "--fields", "InvoiceID", "-o", link); got.code != 0 {
		t.Errorf("link: %+v", got)
	}
	wantFile(t, target, "InvoiceID\nD1\n")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode became %v", info.Mode())
	}
	if got := (invocation{handler: rows(1, d1)}).run(t, "query", "SO_Totals", "-o", os.DevNull); got.code != 0 {
		t.Errorf("device: %+v", got)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Error("the device was replaced")
	}
	if got := (invocation{}).run(t, "query", "SO_Totals", "-o", dir); got.code != 1 || !strings.Contains(got.stderr, "is a directory") {
		t.Errorf("directory: %+v", got)
	}
}

// Output to a terminal is sanitized in all formats, output to a file is not.
func TestTerminalOutputIsSanitized(t *testing.T) {
	hostile := `{"Class":"\u001b]0;owned\u0007 \u009b31m \u202etxt ` + "\u009b\u007f" + `"}`
	for _, f := range streaming() {
		got := invocation{handler: rows(1, hostile), terminal: true}.run(t, "query", "DB_Class", "--format", f)
		if i := strings.IndexAny(got.stdout, "\x1b\x07\x7f\u009b\u202e"); i >= 0 || got.code != 0 {
			t.Errorf("%s: exit %d, %q at %d", f, got.code, got.stdout, i)
		}
		into := filepath.Join(t.TempDir(), "out")
		invocation{handler: rows(1, hostile), terminal: true}.run(t, "query", "DB_Class", "--format", f, "-o", into)
		if text, _ := os.ReadFile(into); f == "csv" && !strings.Contains(string(text), "\x1b]0;owned\x07") {
			t.Errorf("%s: the file holds %q", f, text)
		}
	}
}

func TestInterruptedStream(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got := invocation{ctx: ctx, handler: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, `{"Class":"A"}`+"\n"+`{"Class":"B"}`+"\n")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}}.run(t, "query", "DB_Class")
	if got.code != 130 || !strings.HasPrefix(got.stderr, "whctl: interrupted") {
		t.Errorf("%+v", got)
	}
}

func TestRecords(t *testing.T) {
	got := invocation{}.run(t, "records", "--json")
	var kinds []struct {
		Record string
		Fields int
	}
	if err := json.Unmarshal([]byte(got.stdout), &kinds); err != nil || len(kinds) != len(record.Builtin().Kinds()) || kinds[4].Record != "DB_Class" || kinds[4].Fields != 1 {
		t.Errorf("%v: %v", err, kinds)
	}
	golden(t, "records", invocation{terminal: true}.run(t, "records").stdout)
	single := invocation{terminal: true}.run(t, "records", "bm_inputs")
	golden(t, "records-one", single.stdout+"--\n"+single.stderr)
	if piped := (invocation{}).run(t, "records", "DB_Class"); piped.stdout != "Field,Type,Operators\nClass,string,= ^= $= *= ~= between in\n" || piped.stderr != "" {
		t.Errorf("%+v", piped)
	}
}

func TestHelp(t *testing.T) {
	var pages strings.Builder
	for _, name := range append(commandNames(), "") {
		got := invocation{}.run(t, strings.Fields("help "+name)...)
		if got.code != 0 || got.stderr != "" {
			t.Errorf("help %s: %+v", name, got)
		}
		fmt.Fprintf(&pages, "=== whctl help %s\n%s\n", name, got.stdout)
	}
	golden(t, "help", pages.String())
	for _, args := range []string{"query --help", "-h query SO_Totals", "query --nope -h", "query SO_Totals --take x --help"} {
		if got := (invocation{}).run(t, strings.Fields(args)...); got.code != 0 || !strings.HasPrefix(got.stdout, "whctl query: ") {
			t.Errorf("%s: %+v", args, got)
		}
	}
	if got := (invocation{}).run(t); !strings.HasPrefix(got.stdout, "whctl: ") || got.code != 0 {
		t.Errorf("without arguments: %+v", got)
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
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}

func TestVersion(t *testing.T) {
	want := invocation{}.run(t, "version")
	if want.code != 0 || !strings.HasPrefix(want.stdout, "whctl ") {
		t.Errorf("%+v", want)
	}
	for _, args := range []string{"--version", "-V", "query -V SO_Totals"} {
		if got := (invocation{}).run(t, strings.Fields(args)...); got != want {
			t.Errorf("%s: %+v", args, got)
		}
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
			got := invocation{handler: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/x-ndjson")
				w.Header().Set("Trailer", wire.HeaderRowCount)
				piece := strings.Repeat(line, 300)
				for left := b.N; left > 0; left -= 300 {
					io.WriteString(w, piece[:min(left, 300)*len(line)])
				}
				w.Header().Set(wire.HeaderRowCount, fmt.Sprint(b.N))
			}}.run(b, "query", "SO_Totals", "--format", format, "-o", os.DevNull)
			if got.code != 0 {
				b.Fatal(got.stderr)
			}
		})
	}
}
