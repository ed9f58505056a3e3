package tui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/tuitest"
)

// Screens of records with the demo records of a daemon.
func TestRecordGoldens(t *testing.T) {
	i := daemontest.Start(t, "--demo") // not shared: the number of rows is shown
	c := tuitest.Connect(t, i)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		o.Downloads = "/home/jsmith/Downloads"
		d := tuitest.Drive(t, c, o)
		d.AwaitLive()
		d.Press("2")
		d.Golden("S02-records", appearance)
		d.Press(":", "'so_tot")
		d.Golden("S12-palette", appearance)
		d.Press("enter", "l", "s", "s", "j", "space", "j", "space", "k")
		d.Advance(time.Second / 2) // the statistics of the column are computed
		d.Golden("S03-grid", appearance)
		d.Press(":")
		d.Golden("S12-palette-empty", appearance)
		d.Press("esc")
		d.Press("/", "'InvoiceTotal>=1000  Invoi")
		d.Golden("S04-filter", appearance)
		d.Press("backspace", "backspace", "backspace", "backspace", "backspace", "'InvoiceID^=D106", "enter")
		d.WantText("[InvoiceTotal>=1000] [InvoiceID^=D106]", "of 527")
		d.Press("enter")
		d.Golden("S05-record", appearance)
		d.Press("tab")
		d.Golden("S05-record-json", appearance)
		d.Press("tab")
		d.Golden("S05-record-request", appearance)
		d.Press("esc", "C", "j", "j", "space")
		d.Golden("S06-columns", appearance)
		d.Press("enter")
		d.WantText("cols 1-5 of 7")
		d.Press("?")
		d.Golden("S00-help", appearance)
		d.Press("esc", "x")
		d.Golden("S00-actions", appearance)
		d.Press("esc", "c")
		d.Golden("S00-equivalent-command", appearance)
		d.Press("esc", "e")
		d.Golden("S00-export", appearance)
		d.Press("esc")
		d.App.SetJobs(exportJobs(d.Clock)...)
		d.Press("J")
		d.Golden("S00-jobs", appearance)
		d.Press("esc")
		d.App.SetJobs()
		d.Press(":", "'INMGT020POQty", "enter", "$", "t", "l", "s", "s")
		d.Golden("S03-groups", appearance)
		d.Press(":", "'so_tot", "enter", "F", "0", "l", "i")
		d.Golden("S03-statistics", appearance)
	})
}

// exportJobs returns a complete, a failed and a running export that have started at a time.
func exportJobs(start time.Time) []*export.Job {
	complete := &export.Job{
		Name:    "SO_Totals",
		Path:    "/home/jsmith/Downloads/SO_Totals.xlsx",
		Started: start,
		Ended:   start,
	}
	complete.Rows.Store(12_000)
	failed := &export.Job{
		Name:    "Messages",
		Path:    "/home/jsmith/Downloads/Messages.xlsx",
		Started: start,
		Ended:   start,
		Err:     errors.New("no space left on device"),
	}
	running := &export.Job{
		Name:    "SO_Totals",
		Path:    "/home/jsmith/Downloads/SO_Totals.csv",
		Total:   12_000,
		Started: start,
	}
	running.Rows.Store(3_400)
	return []*export.Job{complete, failed, running}
}

// The record kinds of the service take the place of those known at the start, also in a
// list that is open.
func TestKindsOfService(t *testing.T) {
	served := record.Kind{
		Name:    "DB_Main",
		Area:    "Own debtors",
		Summary: "Debtors",
		Fields:  []record.Field{{Name: "DebtorID", Type: record.Text, Filter: record.TextFilter}},
	}
	var fetchErr error
	fetch := func(context.Context, *client.Client) (*record.Registry, error) {
		r, err := record.NewRegistry(served)
		return r, errors.Join(err, fetchErr)
	}
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Kinds: tui.Kinds{Fetch: fetch}})
	d.Press("2")
	d.WantText("Own debtors", "DB_Main")
	d.WantNoText("SO_Totals")
	d.Press(":", "'db_ma")
	d.WantText("DB_Main")
	d.Press("esc")

	served.Name = "DB_Other"
	d.Press("R")
	d.Settle()
	d.WantText("DB_Other")
	d.WantNoText("DB_Main")

	// On an error, the known kinds stay.
	served.Name = "DB_Third"
	fetchErr = errors.New("unavailable")
	d.Press("R")
	d.Settle()
	d.WantText("DB_Other")
}

// Only the records of kinds in view are counted, each once.
func TestKindsInViewAreCounted(t *testing.T) {
	c, counts := countingService(t)
	var kinds []record.Kind
	for n := range 200 {
		kinds = append(kinds, record.Kind{
			Name:   fmt.Sprintf("K%03d", n),
			Area:   "Area",
			Fields: []record.Field{{Name: "ID"}},
		})
	}
	registry, err := record.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, c, tui.Options{Kinds: tui.Kinds{Known: registry}})
	d.Press("2")
	d.Advance(3 * time.Second)
	d.WantText("K000", "4,711")
	first := counts()
	if len(first) == 0 || len(first) > 24 || first["K000"] != 1 || first["K150"] != 0 {
		t.Errorf("on the first page, the queries by kind are %v, want one for each kind in view", first)
	}

	d.Press("G")
	d.Advance(3 * time.Second)
	d.WantText("K199", "4,711")
	last := counts()
	if len(last) <= len(first) || last["K199"] != 1 || last["K100"] != 0 || last["K000"] != 1 {
		t.Errorf("on the last page, the queries by kind are %v, want one for each kind that was in view", last)
	}
}

// countingService returns a client of a service with 4,711 records of each kind, and a function
// that returns the number of queries by kind.
func countingService(t *testing.T) (c *client.Client, counts func() map[string]int) {
	t.Helper()
	var mu sync.Mutex
	counted := make(map[string]int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, isQuery := strings.CutPrefix(r.URL.Path, "/Queries/"); isQuery {
			mu.Lock()
			counted[kind]++
			mu.Unlock()
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"Offset":0,"Total":4711,"Results":[],"Meta":{},"ResponseStatus":{}}`)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(counted)
	}
}
