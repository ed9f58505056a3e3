package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/ui"
)

// Of requests is seen on any screen what tells them apart, and on an ordinary
// one how old they are and of whom.
func TestRequestsOnSmallScreens(t *testing.T) {
	d := drive(t, connected(t, daemontest.Start(t)), Options{})
	d.press("6")
	d.clock = time.Now()
	d.press("R")
	d.resize(80, 24)
	head := lineWith(t, d, "Status")
	for _, title := range []string{"Status", "Method", "Path", "Duration", "User", "Age"} {
		if !strings.Contains(head, title) {
			t.Errorf("80 columns show no %s: %q", title, head)
		}
	}
	if line := lineWith(t, d, "/Sessions/Current"); !strings.Contains(line, " ms ") || strings.Contains(line, "PT") {
		t.Errorf("the duration is not one for people: %q", line)
	}
	d.sees("! failed")
	d.resize(60, 15)
	head = lineWith(t, d, "Status")
	for _, title := range []string{"Status", "Method", "Path", "Duration"} {
		if !strings.Contains(head, title) {
			t.Errorf("60 columns show no %s: %q", title, head)
		}
	}
	d.press("$", "h", "h", "h", "y")
	if text := d.lastCopied(); !strings.HasPrefix(text, "PT") {
		t.Errorf("copied %q, want what the service sent", text)
	}
}

// What the user chose to see of requests is seen, in any session.
func TestChosenColumnsOfRequests(t *testing.T) {
	i := demoDaemon(t)
	o := Options{State: t.TempDir(), Profile: "prod"}
	d := drive(t, connected(t, i), o)
	d.press("6", "C", "/", "'IpAddress", "enter", "space", "/", "ctrl+u", "'Referer", "enter", "space", "enter")
	d.later(ms(1000))
	again := drive(t, connected(t, i), o)
	again.press("6")
	again.resize(200, 60)
	again.sees("Referer")
	if strings.Contains(again.text(), "Address") {
		t.Errorf("a column is shown that was taken away:\n%s", again.text())
	}
}

// Times of the service are shown as the mode says, and columns become narrow
// again; those of records have no zone and stay.
func TestTimesOfGrids(t *testing.T) {
	i := demoDaemon(t)
	d := drive(t, connected(t, i), Options{})
	d.app.Zone = time.FixedZone("AWST", 8*60*60)
	d.clock = time.Now()
	d.press("6")
	b := d.app.Front().(*browse.Browser)
	first := b.Records[b.Grid.Row()].Row.Text("DateTime")
	at, ok := ui.Instant(first)
	if !ok {
		t.Fatalf("%q is no time of the service", first)
	}
	narrow := lineWith(t, d, "Status")
	cell := func() string { return b.Grid.Row().Cells[5].Text }
	if !strings.HasSuffix(cell(), "s") {
		t.Errorf("the age is %q", cell())
	}
	d.press("t")
	if want := at.Add(8 * time.Hour).Format("01-02 15:04:05"); cell() != want {
		t.Errorf("in local times it is %q, want %q", cell(), want)
	}
	d.press("t")
	if want := at.Format("01-02 15:04:05"); cell() != want {
		t.Errorf("in UTC it is %q, want %q", cell(), want)
	}
	d.press("enter")
	d.sees(at.Format("2006-01-02 15:04:05") + ".")
	d.sees("UTC")
	d.press("esc", "t")
	if again := lineWith(t, d, "Status"); again != narrow {
		t.Errorf("the columns are not as narrow as before:\n%s\n%s", narrow, again)
	}
	age := cell()
	d.app.Now = d.app.Now.Add(5 * time.Minute)
	b.Tick() // alone, without fetching anything
	if cell() == age {
		t.Errorf("the age stays %s", age)
	}
}

// Where another mode changes nothing, the message says so.
func TestTimesThatStay(t *testing.T) {
	i := demoDaemon(t)
	for name, test := range map[string]struct {
		keys []string
		says string
	}{
		"rows":   {[]string{":", "'IN_KitStockTakeMain", "enter"}, "those of records have no zone and stay"},
		"record": {[]string{":", "'IN_KitStockTakeMain", "enter", "enter"}, "those of records have no zone and stay"},
		"none":   {[]string{":", "'DB_Class", "enter"}, "nothing here changes by it but the clock"},
	} {
		d := drive(t, connected(t, i), Options{})
		d.press(test.keys...)
		before := d.app.Front().View()
		d.press("t")
		if d.sees("times: local   " + test.says); d.app.Front().View() != before {
			t.Errorf("%s look different:\n%s", name, d.text())
		}
	}
}

func TestDurationText(t *testing.T) {
	for text, want := range map[string]string{
		"PT0S": "0.0 ms", "PT0.0003985S": "0.4 ms", "PT0.00999S": "10.0 ms", "PT0.01S": "10 ms", "PT0.0123S": "12 ms", "PT30S": "30,000 ms",
		"PT1H0S": "3,600,000 ms", "soon": "soon",
	} {
		if got := ui.Milliseconds(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// A request is shown whole although others come all the time.
func TestRequestAmongNewOnes(t *testing.T) {
	c := connected(t, demoDaemon(t))
	d := drive(t, c, Options{})
	d.press("6", "j", "j", "j")
	if _, err := c.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.press("enter")
	r := d.app.Front().(*browse.Record)
	if r.Partly || r.Whole.Text("Id") != r.Row.ID || r.Whole.Text("IpAddress") == "" {
		t.Errorf("it is not whole:\n%s", d.text())
	}
}
