package browse_test

import (
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
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.App.Session.Zone = time.FixedZone("AWST", 8*60*60)
	d.Clock = time.Now()
	d.Press("6")
	b := d.App.Front().(*browse.Browser)
	first := b.Rows.Records[b.Grid.Row()].Row.Text("DateTime")
	at, ok := ui.ParseTime(first)
	if !ok {
		t.Fatalf("%q is no time of the service", first)
	}
	narrow := d.LineWith("Status")
	cell := func() string { return b.Grid.Row().Cells[5].Text }
	if !strings.HasSuffix(cell(), "s") {
		t.Errorf("the age is %q", cell())
	}
	d.Press("t")
	if want := at.Add(8 * time.Hour).Format("01-02 15:04:05"); cell() != want {
		t.Errorf("in local times it is %q, want %q", cell(), want)
	}
	d.Press("t")
	if want := at.Format("01-02 15:04:05"); cell() != want {
		t.Errorf("in UTC it is %q, want %q", cell(), want)
	}
	d.Press("enter")
	d.WantText(at.Format("2006-01-02 15:04:05") + ".")
	d.WantText("UTC")
	d.Press("esc", "t")
	if narrowAgain := d.LineWith("Status"); narrowAgain != narrow {
		t.Errorf("the columns are wider than before:\n%s\n%s", narrow, narrowAgain)
	}
	age := cell()
	d.App.Session.Now = d.App.Session.Now.Add(5 * time.Minute)
	b.Tick() // without a fetch
	if cell() == age {
		t.Errorf("the age is still %s", age)
	}
}

// If the time mode changes nothing, a message is shown.
func TestTimeModeWithoutEffectShowsMessage(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	for name, test := range map[string]struct {
		keys []string
		want string
	}{
		"record": {[]string{":", "'IN_KitStockTakeMain", "enter", "enter"}, "record dates have no time zone and do not change"},
		"none":   {[]string{":", "'DB_Class", "enter", "enter"}, "this screen shows no times"},
	} {
		d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
		d.Press(test.keys...)
		before := d.App.Front().View()
		d.Press("t")
		d.WantText("times: local   " + test.want)
		if d.App.Front().View() != before {
			t.Errorf("%s look different:\n%s", name, d.Text())
		}
	}
}
