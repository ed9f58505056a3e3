package tui_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
)

// A user without permission for the stream sees polled rows, and no label LIVE.
func TestPollingWithoutStream(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{})
	d.WaitUntil("the stream is rejected", func() bool { return d.App.StreamRejectedErr() != nil })
	d.WantText("Deliveries require the admin role", "POLL 2s")
	d.Press(":", "'DB_Class", "enter")
	before := d.App.Front().(*browse.Browser).Pages.Generation()
	d.Advance(3000 * time.Millisecond)
	d.WantText("POLL 2s", "row 1 of 14")
	if after := d.App.Front().(*browse.Browser).Pages.Generation(); after == before {
		t.Error("rows were not polled")
	}
}

// Hidden screens refresh when they are shown after changes were missed.
func TestHiddenScreensRefreshAfterMissedChanges(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4")
	list := d.App.Front().(*messages.List)
	for name, miss := range map[string]func(){
		"a reset": func() { d.Live(tui.LiveMsg{Beat: true, Reset: true}) },
		"a pause": func() {
			d.Press("p")
			d.Live(tui.LiveMsg{Beat: true, Changes: make([]wire.MessageChange, 3)})
			d.Press("p")
		},
	} {
		d.Press("1")
		before := list.Pages.Generation()
		miss()
		d.Press("4")
		if list.Pages.Generation() == before {
			t.Errorf("after %s the rows are unchanged", name)
		}
	}
	d.Press("1")
	before := list.Pages.Generation()
	d.Press("4")
	if list.Pages.Generation() != before {
		t.Error("current rows were fetched again")
	}
}
