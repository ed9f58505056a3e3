package browse_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Service times follow the time mode and columns become narrow again; record dates do
// not change.
func TestListsFollowTimeMode(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	program := tuitest.ConnectAs(t, i, "integration")
	if _, err := program.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.App.Session.Zone = time.FixedZone("AWST", 8*60*60)
	d.Clock = time.Now()
	d.Press("6")
	b := d.App.Front().(*browse.Browser)
	text := b.Rows.Records[b.Grid.Row()].Row.Text("DateTime")
	requestedAt, ok := ui.ParseTime(text)
	if !ok {
		t.Fatalf("%q is not a time of the service", text)
	}
	timeColumn := slices.Index(b.Selection.Fields, "DateTime")
	timeCell := func() string { return b.Grid.Row().Cells[timeColumn].Text }

	titles := d.LineWith("Status")
	if got := timeCell(); !strings.HasSuffix(got, "s") {
		t.Errorf("the age is %q, want seconds", got)
	}
	d.Press("t")
	if got, want := timeCell(), requestedAt.Add(8*time.Hour).Format("01-02 15:04:05"); got != want {
		t.Errorf("the local time is %q, want %q", got, want)
	}
	d.Press("t")
	if got, want := timeCell(), requestedAt.Format("01-02 15:04:05"); got != want {
		t.Errorf("the UTC time is %q, want %q", got, want)
	}
	d.Press("enter")
	d.WantText(requestedAt.Format("2006-01-02 15:04:05")+".", "UTC")

	d.Press("esc", "t")
	if got := d.LineWith("Status"); got != titles {
		t.Errorf("with ages again, the titles are %q, want %q", got, titles)
	}
	age := timeCell()
	d.App.Session.Now = d.App.Session.Now.Add(5 * time.Minute)
	b.Tick() // without a fetch
	if got := timeCell(); got == age {
		t.Errorf("five minutes later, the age is still %s", got)
	}
}

// If the time mode changes nothing, a message is shown.
func TestTimeModeWithoutEffectShowsMessage(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	for kind, want := range map[string]string{
		"IN_KitStockTakeMain": "record dates have no time zone and do not change",
		"DB_Class":            "this screen shows no times",
	} {
		d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
		d.Press(":", "'"+kind, "enter", "enter")
		before := d.App.Front().View()
		d.Press("t")
		d.WantText("times: local   " + want)
		if d.App.Front().View() != before {
			t.Errorf("t changes the record of %s:\n%s", kind, d.Text())
		}
	}
}
