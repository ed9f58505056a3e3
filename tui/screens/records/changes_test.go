package records_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

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
