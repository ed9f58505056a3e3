package records_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// The list of changes, and one change.
func TestChangesGoldens(t *testing.T) {
	c := tuitest.CannedDaemon(t, tuitest.DemoDaemon(t), map[string]string{"/Queries/SO_Totals/Changes": `{"Meta":{"Next":"v1-a-3"}}`, "/Queries/SO_Totals/Changes?Since=v1-a-3": `{"Meta":{"Next":"v1-a-3"}}`, "/Queries/SO_Totals/Changes?Since=v1-a-0": `{"Meta":{"Next":"v1-a-3"},"Results":[
		{"ChangeID":1,"Kind":"SO_Totals","Op":"created","Key":"D118001","KeyFields":{"InvoiceID":"D118001"},"Record":{"InvoiceID":"D118001","InvoiceTotal":1250.50,"Cartage1Total":0},"CapturedAt":"2026-07-01T13:58:40Z"},
		{"ChangeID":2,"Kind":"SO_Totals","Op":"updated","Key":"D104172","KeyFields":{"InvoiceID":"D104172"},"Record":{"InvoiceID":"D104172","InvoiceTotal":94692.585,"Cartage1Total":14.95},"Before":{"InvoiceTotal":94492.585,"Cartage1Total":0},"Changed":["InvoiceTotal","Cartage1Total"],"CapturedAt":"2026-07-01T14:01:10Z"},
		{"ChangeID":3,"Kind":"SO_Totals","Op":"deleted","Key":"D106436","KeyFields":{"InvoiceID":"D106436"},"Before":{"InvoiceID":"D106436","InvoiceTotal":83128.595},"CapturedAt":"2026-07-01T14:02:01Z"}]}`})
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := tuitest.Drive(t, c, o)
		d.AwaitLive()
		d.Press(":", "'changes SO_Tot", "tab", "enter", "p", "down")
		d.Golden("S03-changes", appearance)
		d.Press("enter")
		d.Golden("S05-change", appearance)
	})
}

// The changes of a captured kind appear as the demo makes them, also those before the list
// was opened. They open, and lead to the history of their key.
func TestChangesAreLive(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--demo-activity", "--erp-kinds", "../../../daemon/demo/kinds.toml", "--changes-sweep", "1s")
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.AwaitLive()
	d.Press(":", "'changes IN_Col", "tab", "enter")
	d.WantText("the changes of IN_Colours are not captured", "[IN_Colours]")
	d.Press("esc", "esc", ":", "'IN_KitStock", "enter", "L")
	d.WantText("Changes of IN_KitStockTakeMain")
	for deadline := time.Now().Add(tuitest.Timeout); !strings.Contains(d.Text(), "updated"); d.Wait(2 * time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("no change of the demo:\n%s", d.Text())
		}
		time.Sleep(50 * time.Millisecond)
	}
	if line := d.LineWith("updated"); !strings.Contains(line, "KitStockTakeStatus false -> true") {
		t.Errorf("no values of the update: %q", line)
	}
	d.Press("p", "/", "'created", "enter")
	d.WantNoText("updated")
	d.Resize(120, 40)
	d.WantText("[created]", `"Op": "created"`, `"KitStockTakeNo": "LIVE-`)
	d.CheckScreen()
	d.Press("enter")
	d.WantText("› live", "[created]", "captured at ")
	d.Press("esc", "w")
	d.WantText("Why live", "change")
}
