package tui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		d.Golden("S03-grid", appearance)
		d.Press("/", "'InvoiceTotal>=1000  Invoi")
		d.Golden("S04-filter", appearance)
		d.Press("backspace", "backspace", "backspace", "backspace", "backspace", "'InvoiceID^=D106", "enter")
		d.WantText("[InvoiceTotal>=1000]  [InvoiceID^=D106]", "of 527")
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
		done := &export.Job{Name: "SO_Totals", Path: "/home/jsmith/Downloads/SO_Totals.xlsx", Started: d.Clock, Ended: d.Clock}
		running := &export.Job{Name: "SO_Totals", Path: "/home/jsmith/Downloads/SO_Totals.csv", Total: 12_000, Started: d.Clock}
		failed := &export.Job{Name: "Messages", Path: "/home/jsmith/Downloads/Messages.xlsx", Started: d.Clock, Ended: d.Clock, Err: errors.New("no space left on device")}
		done.Rows.Store(12_000)
		running.Rows.Store(3_400)
		d.App.SetJobs(done, failed, running)
		d.Press("J")
		d.Golden("S00-jobs", appearance)
		d.Press("esc")
		d.App.SetJobs()
		d.Press(":", "'INMGT020POQty", "enter", "$", "t", "l", "s", "s")
		d.Golden("S03-groups", appearance)
	})
}

// The record kinds of the service take the place of those known at the start, also in a
// list that is open.
func TestKindsOfService(t *testing.T) {
	ownKind := record.Kind{Name: "DB_Main", Area: "Own debtors", Summary: "Debtors", Fields: []record.Field{{Name: "DebtorID", Type: record.Text, Filter: record.TextFilter}}}
	var fail error
	o := tui.Options{Kinds: tui.Kinds{Fetch: func(context.Context, *client.Client) (*record.Registry, error) {
		r, err := record.NewRegistry(ownKind)
		return r, errors.Join(err, fail)
	}}}
	d := tuitest.Drive(t, tuitest.Unreachable(t), o)
	d.Press("2")
	d.WantText("Own debtors", "DB_Main")
	d.WantNoText("SO_Totals")
	d.Press(":", "'db_ma")
	d.WantText("DB_Main")
	d.Press("esc")

	ownKind.Name = "DB_Other"
	d.Press("R")
	d.Settle()
	d.WantText("DB_Other")
	d.WantNoText("DB_Main")
	ownKind.Name, fail = "DB_Third", errors.New("unavailable")
	d.Press("R")
	d.Settle()
	d.WantText("DB_Other")
}

// Only the records of kinds in view are counted, each once.
func TestKindsInViewAreCounted(t *testing.T) {
	var mu sync.Mutex
	counted := make(map[string]int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, isQuery := strings.CutPrefix(r.URL.Path, "/Queries/"); isQuery {
			mu.Lock()
			counted[kind]++
			mu.Unlock()
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"Offset":0,"Total":4711,"Results":[],"Meta":{},"ResponseStatus":{}}`)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []record.Kind
	for n := range 200 {
		kinds = append(kinds, record.Kind{Name: fmt.Sprintf("K%03d", n), Area: "Area", Fields: []record.Field{{Name: "ID"}}})
	}
	registry, err := record.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, c, tui.Options{Kinds: tui.Kinds{Known: registry}})
	d.Press("2")
	d.Advance(3 * time.Second)
	d.WantText("K000", "4,711")
	mu.Lock()
	first := len(counted)
	if first == 0 || first > 24 || counted["K000"] != 1 || counted["K150"] != 0 {
		t.Errorf("%d kinds are counted: %v", first, counted)
	}
	mu.Unlock()
	d.Press("G")
	d.Advance(3 * time.Second)
	d.WantText("K199", "4,711")
	mu.Lock()
	defer mu.Unlock()
	if len(counted) <= first || counted["K199"] != 1 || counted["K100"] != 0 || counted["K000"] != 1 {
		t.Errorf("%d kinds are counted: %v", len(counted), counted)
	}
}
