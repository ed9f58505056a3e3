package tui_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// exported returns the content of the only exported file.
func exported(t *testing.T, d *tuitest.Driver, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.App.Session.Downloads, name))
	if err != nil {
		t.Fatal(err)
	}
	partial := tuitest.Files(t, d.App.Session.Downloads, "*"+export.PartSuffix)
	if len(partial) > 0 {
		t.Errorf("after the export, there are the partial files %q", partial)
	}
	return string(text)
}

// A kind is opened with conditions by a command, and all matching rows are exported to
// a CSV file for Excel.
func TestExportFilteredRowsForExcel(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{Downloads: t.TempDir()})
	d.Press(":", "'db_class Class in \"=Unclassified\",\"Cash sale\",Staff", "enter")
	d.WantText("DB_Class", `[Class in =Unclassified,Cash sale,Staff]`)
	d.Press("e", "right", "enter")
	d.WantText("rows written to")
	text := exported(t, d, "DB_Class.csv")
	lines := strings.Split(text, "\r\n")
	if lines[0] != "\ufeffClass" || len(lines) < 4 {
		t.Errorf("the file starts with %q and has %d lines, want the title after a byte order mark, and rows",
			lines[0], len(lines))
	}
	for _, want := range []string{"'=Unclassified", "Cash sale"} { // a formula is escaped
		if !slices.Contains(lines, want) {
			t.Errorf("the file has no line %q:\n%s", want, text)
		}
	}
}

// Each format and each choice of rows exports the expected rows, in the order of the
// screen.
func TestExportFormats(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{Downloads: t.TempDir()})
	d.Press(":", "'SO_Totals InvoiceTotal>=1000", "enter", "l", "s", "s", "j", "space", "j", "space")
	b := d.App.Front().(*browse.Browser)
	var want []string
	for _, row := range b.Grid.MarkedRows() {
		want = append(want, row.ID)
	}
	for range export.Formats {
		d.Press("e", "right")
		d.WantText("marked: 2 rows")
		d.Press("ctrl+s")
		d.WantText("2 rows written to")
	}
	if got := invoices(t, exported(t, d, "SO_Totals-2.csv")); !slices.Equal(got, want) {
		t.Errorf("csv has %v, want %v", got, want)
	}
	var records []struct{ InvoiceID string }
	if err := json.Unmarshal([]byte(exported(t, d, "SO_Totals.json")), &records); err != nil {
		t.Error(err)
	}
	if len(records) != 2 || records[0].InvoiceID != want[0] {
		t.Errorf("json has %v, want the invoices %v", records, want)
	}
	lines := strings.Split(exported(t, d, "SO_Totals.ndjson"), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], want[1]) { // the last line is empty
		t.Errorf("ndjson has the lines %q, want the invoices %v", lines, want)
	}

	// All matching rows, in a workbook.
	d.Press("e", "left", "down", "right", "ctrl+s")
	d.WantText("rows written to")
	d.Press("u", "space", "e")
	d.WantText("marked: 1 row")
	wantFile(t, d, "SO_Totals-3.xlsx")
	d.Press("esc")
	sheet := sheetOf(t, filepath.Join(d.App.Session.Downloads, "SO_Totals-2.xlsx"))
	rows, wantRows := strings.Count(sheet, "<row "), b.Rows.Pages.Total()+1
	if rows != wantRows {
		t.Errorf("the workbook has %d rows, want %d with the titles", rows, wantRows)
	}
	if !strings.Contains(sheet, want[0]) {
		t.Errorf("the workbook does not contain %s", want[0])
	}

	d.Resize(400, 24) // for any path
	d.Press("J")
	d.WantText("Exports", "SO_Totals.xlsx", "rows written", "2 rows written")
	d.Press("y")
	d.WantText("sent to the terminal")
}

// The format is the first field, enter exports from any field, and the format is remembered
// for other rows and for the next start.
func TestExportRemembersFormat(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	o := tui.Options{Downloads: t.TempDir(), State: t.TempDir()}
	d := tuitest.Drive(t, tuitest.Connect(t, i), o)
	d.Press(":", "'DB_Class", "enter", "e")
	d.WantText("‹ csv ›", "enter export")
	wantFile(t, d, "DB_Class.csv")
	d.Press("'x", "enter")
	d.WantText("14 rows written to")
	d.Press("e", "tab", "tab")
	d.WantText("‹ xlsx ›")
	wantFile(t, d, "DB_Class-2.xlsx")
	d.Press("enter")
	d.WantText("14 rows written to")
	d.Wait(2 * time.Second)
	restarted := tuitest.Drive(t, tuitest.Connect(t, i), o)
	restarted.Press(":", "'IN_Colours", "enter", "e")
	restarted.WantText("‹ xlsx ›")
	wantFile(t, restarted, "IN_Colours.xlsx")
}

// wantFile checks the name in the form of an export: its path can be too long for the screen.
func wantFile(t *testing.T, d *tuitest.Driver, name string) {
	t.Helper()
	path := fileField(d).Input.Value()
	if filepath.Base(path) != name {
		t.Errorf("the form has %q, want %s", path, name)
	}
}

// fileField returns the field of the file in the form of an export.
func fileField(d *tuitest.Driver) *ui.Field {
	d.T.Helper()
	for _, field := range d.App.Overlay().(*ui.Form).Fields {
		if field.Name == browse.ExportPath {
			return field
		}
	}
	d.T.Fatal("the form has no field of the file")
	return nil
}

// invoices returns the first cell of each CSV row.
func invoices(t *testing.T, text string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, row := range rows[1:] {
		ids = append(ids, row[0])
	}
	return ids
}

// sheetOf returns the XML of the first sheet of a workbook.
func sheetOf(t *testing.T, path string) string {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	file, err := archive.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Marked rows that are no longer loaded are fetched from the service.
func TestExportFetchesUnloadedMarkedRows(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{Downloads: t.TempDir()})
	d.Press(":", "'SO_Totals", "enter", "space", "G", "space")
	b := d.App.Front().(*browse.Browser)
	want := b.Grid.Marks.IDs()
	b.Rows.Pages.Reset()
	d.Press("e", "ctrl+s")
	d.WantText("2 rows written to")
	if got := invoices(t, exported(t, d, "SO_Totals.csv")); !slices.Equal(got, want) {
		t.Errorf("csv has %v, want %v", got, want)
	}
}

// An existing file is replaced only after a second submit, and a missing directory is
// shown as an error of the field.
func TestExportValidatesPath(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	dir := t.TempDir()
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	path := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Press(":", "'IN_Colours", "enter", "e", "ctrl+u")
	file := fileField(d)
	file.Input.SetValue(filepath.Join(dir, "none", "a.csv"))
	d.Press("ctrl+s")
	d.WantText("directory does not exist")

	file.Input.SetValue(path)
	d.Press("ctrl+s")
	d.WantText("file exists")
	if text, err := os.ReadFile(path); string(text) != "old" {
		t.Errorf("after the first submit, the file has %q, error %v; want the old content", text, err)
	}
	d.Press("ctrl+s")
	d.WantText("rows written to")
	if text, err := os.ReadFile(path); err != nil || string(text) == "old" {
		t.Errorf("after the second submit, the file has %q, error %v; want the rows", text, err)
	}
}

// An export shows its progress, blocks quitting once, and is cancelled by D, which
// removes its file.
func TestCancelExportRemovesFile(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	address, stalled := stallRows(t, i.URL)
	c, err := client.New(client.Options{URL: address, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{Downloads: t.TempDir()})
	d.Press(":", "'SO_Totals", "enter", "e")
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Deliver(tuitest.Keys["ctrl+s"]) // not Press, which would wait until the export ends
	<-stalled
	d.Deliver(tui.TickMsg())
	d.WantText("export ", " of 12,000")
	files := tuitest.Files(t, d.App.Session.Downloads, "*")
	if len(files) != 1 || !strings.HasSuffix(files[0], export.PartSuffix) {
		t.Errorf("during the export, the files are %q, want a partial file", files)
	}
	d.Deliver(tuitest.Keys["ctrl+c"])
	d.WantText("1 export running: press again to quit")

	d.Deliver(tuitest.Letter("J"))
	d.WantText("Exports", "SO_Totals")
	d.Deliver(tuitest.Letter("D"))
	d.Settle()
	d.WantText("cancelled: export to")
	files = tuitest.Files(t, d.App.Session.Downloads, "*")
	if len(files) > 0 {
		t.Errorf("after the export was cancelled, the files are %q, want none", files)
	}
}

// A second export to the file of a running one is refused, and another name is suggested.
func TestSecondExportGetsAnotherFile(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	address, stalled := stallRows(t, i.URL)
	c, err := client.New(client.Options{URL: address, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{Downloads: t.TempDir()})
	d.Press(":", "'SO_Totals", "enter", "e")
	first := fileField(d).Input.Value()
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Deliver(tuitest.Keys["ctrl+s"]) // not Press, which would wait until the export ends
	<-stalled
	d.Deliver(tuitest.Letter("e"))
	wantFile(t, d, "SO_Totals-2"+filepath.Ext(first))
	fileField(d).Input.SetValue(first)
	for range 2 { // submitting again is no confirmation
		d.Clock = d.Clock.Add(500 * time.Millisecond)
		d.Deliver(tuitest.Keys["ctrl+s"])
		d.WantText("SO_Totals" + filepath.Ext(first) + export.PartSuffix + " exists")
	}
	if n := len(d.App.Jobs()); n != 1 {
		t.Errorf("%d exports run, want the first one only", n)
	}
	d.App.Jobs()[0].Cancel()
	d.Settle()
}

// stallRows runs a proxy for a service that never completes responses with all rows of
// a kind.
func stallRows(t *testing.T, service string) (address string, stalled <-chan struct{}) {
	t.Helper()
	target, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	reached := make(chan struct{}, 10)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		hasLimit := strings.Contains(string(body)+r.URL.RawQuery, "Take")
		if strings.HasPrefix(r.URL.Path, "/Queries/SO_Totals") && !hasLimit {
			w.Header().Set("Content-Type", "application/x-ndjson")
			_, _ = io.WriteString(w, `{"InvoiceID":"D1"}`+"\n")
			_ = http.NewResponseController(w).Flush()
			reached <- struct{}{}
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, reached
}

// Messages are exported with their bodies, but without the SubscriberID, which is a key. The form
// shows that.
func TestMessageExportIncludesBodies(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{Downloads: t.TempDir()})
	d.Press("4", "!", "e")
	const wantHelp = "all fields with the body, but no SubscriberID"
	if help := d.App.Overlay().(*ui.Form).Fields[1].Help; !strings.HasPrefix(help, wantHelp) {
		t.Errorf("the help about the columns is %q, want %q at its start", help, wantHelp)
	}
	d.Press("up", "up", "left", "left", "ctrl+s")
	d.WantText("4 rows written to")
	text := exported(t, d, "Messages.ndjson")
	if strings.Contains(text, s.Subscriber) {
		t.Errorf("the file has the ID of the subscriber: %s", text)
	}
	const wantBody = `\"DebtorID\":\"C0\"`
	if strings.Count(text, "\n") != 4 || !strings.Contains(text, wantBody) {
		t.Errorf("the file is\n%s\nwant four messages, one with %s", text, wantBody)
	}
}
