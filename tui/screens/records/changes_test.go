package records_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// threeChanges is a page with a created, an updated and a deleted record.
const threeChanges = `{"Meta":{"Next":"v1-a-3"},"Results":[
	{
		"ChangeID":1,"Kind":"SO_Totals","Op":"created","Key":"D118001",
		"KeyFields":{"InvoiceID":"D118001"},
		"Record":{"InvoiceID":"D118001","InvoiceTotal":1250.50,"Cartage1Total":0},
		"CapturedAt":"2026-07-01T13:58:40Z"
	},
	{
		"ChangeID":2,"Kind":"SO_Totals","Op":"updated","Key":"D104172",
		"KeyFields":{"InvoiceID":"D104172"},
		"Record":{"InvoiceID":"D104172","InvoiceTotal":94692.585,"Cartage1Total":14.95},
		"Before":{"InvoiceTotal":94492.585,"Cartage1Total":0},
		"Changed":["InvoiceTotal","Cartage1Total"],
		"CapturedAt":"2026-07-01T14:01:10Z"
	},
	{
		"ChangeID":3,"Kind":"SO_Totals","Op":"deleted","Key":"D106436",
		"KeyFields":{"InvoiceID":"D106436"},
		"Before":{"InvoiceID":"D106436","InvoiceTotal":83128.595},
		"CapturedAt":"2026-07-01T14:02:01Z"
	}
]}`

// The list of changes, and one change.
func TestChangesGoldens(t *testing.T) {
	const noChanges = `{"Meta":{"Next":"v1-a-3"}}`
	c := tuitest.CannedDaemon(t, tuitest.DemoDaemon(t), map[string]string{
		"/Queries/SO_Totals/Changes":              noChanges,
		"/Queries/SO_Totals/Changes?Since=v1-a-3": noChanges,
		"/Queries/SO_Totals/Changes?Since=v1-a-0": threeChanges,
	})
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := tuitest.Drive(t, c, o)
		d.AwaitLive()
		d.Press(":", "'changes SO_Tot", "tab", "enter", "p", "down")
		d.Golden("S03-changes", appearance)
		d.Press("enter")
		d.Golden("S05-change", appearance)
	})
}

// A history that is shorter than the list is shown from its oldest change, as after a
// restart of the service.
func TestChangesOfShortHistory(t *testing.T) {
	target, err := url.Parse(tuitest.DemoDaemon(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/Queries/SO_Totals/Changes" {
			serveShortHistory(w, r)
		} else {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	d := tuitest.Drive(t, tuitest.Connect(t, &daemontest.Instance{URL: server.URL}), tui.Options{})
	d.AwaitLive()
	d.Press(":", "'changes SO_Tot", "tab", "enter")
	d.WantText("1 of 3", "D24", "D23", "D22")
}

// serveShortHistory serves the changes 22 to 24 of a history without older ones.
func serveShortHistory(w http.ResponseWriter, r *http.Request) {
	const oldest, newest = 22, 24
	w.Header().Set("Content-Type", "application/json")
	since := newest
	_, err := fmt.Sscanf(r.URL.Query().Get("Since"), "v1-a-%d", &since)
	if err == nil && since < oldest-1 {
		w.WriteHeader(http.StatusGone)
		_, _ = io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"ResyncRequired",
			"Message":"it is of another history"}}`)
		return
	}
	var results []string
	for id := since + 1; id <= newest; id++ {
		results = append(results, fmt.Sprintf(`{"ChangeID":%d,"Kind":"SO_Totals","Op":"deleted","Key":"D%[1]d",
			"KeyFields":{"InvoiceID":"D%[1]d"},"CapturedAt":"2026-07-01T13:58:40Z"}`, id))
	}
	_, _ = fmt.Fprintf(w, `{"Meta":{"Next":"v1-a-%d"},"Results":[%s]}`, newest, strings.Join(results, ","))
}

// The changes of a captured kind appear as the demo makes them, also those before the list
// was opened. They open, and lead to the history of their key.
func TestChangesAreLive(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--demo-activity", "--changes-sweep", "1s",
		"--erp-kinds", "../../../daemon/demo/kinds.toml")
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.AwaitLive()
	d.Press(":", "'changes IN_Col", "tab", "enter")
	d.WantText("the changes of IN_Colours are not captured", "[IN_Colours]")
	d.Press("esc", "esc", ":", "'IN_KitStock", "enter", "L")
	d.WantText("Changes of IN_KitStockTakeMain")
	awaitText(t, d, "updated")
	const values = "KitStockTakeStatus false -> true"
	if line := d.LineWith("updated"); !strings.Contains(line, values) {
		t.Errorf("the line of the update is %q, want %q in it", line, values)
	}

	// The preview and the screen of a change show its data.
	d.Press("p", "/", "'created", "enter")
	d.WantNoText("updated")
	d.Resize(120, 40)
	d.WantText("[created]", `"Op": "created"`, `"KitStockTakeNo": "LIVE-`)
	d.CheckScreen()
	d.Press("enter")
	d.WantText("› live", "[created]", "captured at ")
	d.Press("esc", "w")
	d.WantText("Why IN_KitStockTakeMain live", "change")
}

// awaitText waits until the screen shows a text. Changes are polled, so that there is no event to
// wait for.
func awaitText(t *testing.T, d *tuitest.Driver, want string) {
	t.Helper()
	deadline := time.Now().Add(tuitest.Timeout)
	for !strings.Contains(d.Text(), want) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v, the screen does not show %q:\n%s", tuitest.Timeout, want, d.Text())
		}
		time.Sleep(50 * time.Millisecond)
		d.Wait(2 * time.Second) // polls
	}
}
