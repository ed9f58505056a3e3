package requests_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/tuitest"
)

// The request log is filtered and opened like records.
func TestRequestsAreFilteredAndOpened(t *testing.T) {
	i := daemontest.Start(t)
	for range 2 {
		if _, err := tuitest.ConnectAs(t, i, "integration").Subscriber(t.Context(), "missing"); !client.Is(err, client.NotFound) {
			t.Fatal(err)
		}
	}
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.Press("6", "!")
	d.WaitUntil("the failed requests are listed", func() bool {
		if strings.Count(d.Text(), "404") < 2 {
			d.Press("R")
		}
		return strings.Count(d.Text(), "404") >= 2
	})
	d.WantText("[StatusCode>=400]")
	d.Press("enter")
	d.WantText("HttpMethod", "GET")
	d.Press("G")
	d.WantText("RequestDuration")
	d.Press("esc", "!")
	d.WantText("404")
}

// The requests of the terminal itself are left out, and a line describes the others.
func TestOwnRequestsAreLeftOut(t *testing.T) {
	i := daemontest.Start(t)
	program := tuitest.ConnectAs(t, i, "integration")
	for range 3 {
		if _, err := program.Info(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.Press("6")
	d.Resize(120, 40)
	d.WaitUntil("the requests are listed", func() bool {
		d.Press("R")
		return strings.Count(d.Text(), "/Info") == 3
	})
	d.WantText("─ 1 of 3 ╮", " of this terminal]", "p95 ")
	d.WantNoText("/Sessions/Current")
	d.CheckScreen()
	d.Resize(60, 15)
	d.CheckScreen()
}

// The main columns are visible at 60 columns; user and age at 80.
func TestRequestColumnsOnSmallScreens(t *testing.T) {
	i := daemontest.Start(t)
	if _, err := tuitest.ConnectAs(t, i, "integration").Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.Press("6")
	d.Clock = time.Now()
	d.Press("R")
	d.Resize(80, 24)
	wantTitles(t, d, "Status", "Method", "Path", "Duration", "User", "Age")
	if line := d.LineWith("/Info"); !strings.Contains(line, " ms ") || strings.Contains(line, "PT") {
		t.Errorf("the duration is not formatted: %q", line)
	}
	d.WantText("! failed")
	d.Resize(60, 15)
	wantTitles(t, d, "Status", "Method", "Path", "Duration")
	d.Press("$", "h", "h", "h", "y")
	if text := d.LastCopied(); !strings.HasPrefix(text, "PT") {
		t.Errorf("copied %q, want the value of the service", text)
	}
}

// wantTitles fails unless the columns are visible.
func wantTitles(t *testing.T, d *tuitest.Driver, titles ...string) {
	t.Helper()
	line := d.LineWith("Status")
	for _, title := range titles {
		if !strings.Contains(line, title) {
			t.Errorf("the titles are %q, want %s among them", line, title)
		}
	}
}

// Selected columns are kept across sessions.
func TestRequestColumnsAreSaved(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	o := tui.Options{State: t.TempDir(), Profile: "prod"}
	d := tuitest.Drive(t, tuitest.Connect(t, i), o)
	d.Press("6", "C", "/", "'IpAddress", "enter", "space", "/", "ctrl+u", "'Referer", "enter", "space", "enter")
	d.Advance(1000 * time.Millisecond)
	restarted := tuitest.Drive(t, tuitest.Connect(t, i), o)
	restarted.Press("6")
	restarted.Resize(200, 60)
	restarted.WantText("Referer")
	restarted.WantNoText("Address")
}

// A request is loaded completely although the log has new rows.
func TestRequestDetailIsComplete(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	program := tuitest.ConnectAs(t, i, "integration")
	for range 5 {
		if _, err := program.Info(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.Press("6", "j", "j", "j")
	if _, err := program.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Press("enter")
	r := d.App.Front().(*browse.Record)
	if r.Partial || r.Full.Text("Id") != r.Row.ID || r.Full.Text("IpAddress") == "" {
		t.Errorf("the request is\n%s\nwant the selected one with all fields", d.Text())
	}
}
