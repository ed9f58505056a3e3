package tui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// The recording of the first minute: from a failed message on the home screen to the history
// of its key, with a look at the records. The pictures of the manual show its marks.
func TestCast(t *testing.T) {
	s := tuitest.StartDeliveries(t, "--demo")
	event := wire.EventPost{
		EventName: "debtor.updated",
		Key:       "C1042",
		Body:      `{"DebtorID":"C1042","Name":"Harbour Supplies"}`,
	}
	s.PublishPost(t, event, ui.StatusRetrying)
	d := s.Open(t, tui.Options{Profile: "prod", Appearance: tui.Appearance{Theme: theme.Dark}})
	d.Clock = d.Clock.Add(-15 * time.Second) // ages stay the same until the end
	busyHour(d.App.Front().(*home.Screen), s.Latest)
	c := tuitest.StartCast(d, "The first minute of whctl tui")
	const read = 3 * time.Second
	c.Show(read)
	c.Mark("home")
	c.Type(read, ":", "'so_tot", "enter")
	c.Type(read, "/", "'InvoiceTotal>=90000 InvoiceID^=D106", "enter", "l", "s", "s")
	c.Mark("records")
	c.Type(read, "4", "!")
	c.Type(read, "enter")
	c.Mark("message")
	c.Type(read, "r")
	d.Press("y") // without a picture, which could have the result or not
	d.WaitUntil("the result of the retry is shown", func() bool {
		for range 3 { // requests the result, and shows it; the clock does not move
			d.Send(tui.TickMsg())
		}
		return strings.Contains(d.Text(), "1 retried: failed again") && strings.Contains(d.Text(), "att. 2/3")
	})
	c.Show(read)
	c.Type(read, "w")
	c.Mark("why")
	c.Type(read, "?")
	c.Type(0, "esc")
	c.Compare("../cmd/whctl/docs/tui.cast")
}
