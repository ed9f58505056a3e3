package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// A value that no field can have does not leave the line.
func TestWrongFilterIsNotSent(t *testing.T) {
	i := demoDaemon(t)
	d := drive(t, connected(t, i), Options{})
	d.press(":", "'SO_Totals", "enter", "/", "'InvoiceID>5", "enter")
	d.sees("/ InvoiceID>5", "InvoiceID is text")
	d.press("esc", "/", "'InvoiceTotal>=abc", "enter")
	d.sees("must be a number")
	d.press("esc")
	d.sees("row 1 of 12,000")
}

// The last row is reached without the rows between, and the selection stays on
// its row when all are fetched again.
func TestLastRow(t *testing.T) {
	i := demoDaemon(t)
	d := drive(t, connected(t, i), Options{})
	d.press(":", "'SO_Totals", "enter", "G")
	d.sees("row 12,000 of 12,000")
	b := d.app.Front().(*browse.Browser)
	last := b.Grid.Row().ID
	if b.Pages.Row(6000) != nil {
		t.Error("rows between were fetched")
	}
	d.press("k", "k", "R", "j", "j")
	if got := b.Grid.Row().ID; got != last {
		t.Errorf("%s is selected, want %s", got, last)
	}
}

// Changes that the stream tells are shown without a key, and the selected row
// stays the selected one.
func TestChangesAreShown(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "j", "j", "j")
	m := d.app.Front().(*messages.List)
	one, _ := m.Selected()
	for n := range 50 {
		change := wire.MessageChange{MessageID: "new" + string(rune('a'+n%26)), EventName: "debtor.updated", Status: n % 3, At: wire.Moment(d.clock)}
		d.send(liveMsg{session: d.app.link.session, beat: true, changes: []wire.MessageChange{change}})
	}
	d.sees("new 26: g shows them")
	if now, _ := m.Selected(); now.MessageID != one.MessageID {
		t.Errorf("%s is selected, want %s", now.MessageID, one.MessageID)
	}
	code := 200
	d.send(liveMsg{session: d.app.link.session, beat: true, changes: []wire.MessageChange{{MessageID: one.MessageID, Status: 1, Retries: 4, HTTPCode: &code}}})
	d.sees("OK     salesorder.creat…", "5/3  200", "←")
	d.press("p")
	d.send(liveMsg{session: d.app.link.session, beat: true, changes: make([]wire.MessageChange, 37)})
	d.sees("PAUSED +37")
	d.press("p", "g")
	d.sees("following", "LIVE")
}

// What was typed wrong in a form stands at its field.
func TestFormShowsWhatIsWrong(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("3", "enter", "n", "'salesorder.up", "tab", "'169.254.169.254/x", "ctrl+s")
	d.sees("New subscription for acme-shop", "salesorder.updated", "169.254.169.254")
	for range len("https://169.254.169.254/x") {
		d.press("backspace")
	}
	d.press("'http://127.0.0.1:9/x", "ctrl+s")
	d.sees("Created", "whsec_")
	d.press("esc")
	d.sees("salesorder.updated", "row 1 of 4")
}

// Enter takes no destructive question for a yes, and a y that comes at once is
// not heard.
func TestQuestions(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "D")
	d.sees("Delete this message?")
	d.press("enter")
	if d.app.over != nil {
		t.Error("enter does not leave the question")
	}
	d.press("D")
	d.clock = d.clock.Add(-ms(500)) // the next key is 0 ms behind
	d.press("y")
	d.sees("Delete this message?", "8")
	d.press("y")
	d.sees("in 5s", "U undo")
	d.later(ui.UndoTime)
	d.sees("done")
	d.until("the message is gone", func() bool {
		page, err := s.client.AllMessages(t.Context(), nil)
		return err == nil && page.Total == 7
	})
}

// Who may not read the stream sees rows that are fetched again and again, and no
// word that says they were live.
func TestPollsWithoutStream(t *testing.T) {
	i := demoDaemon(t)
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := drive(t, c, Options{})
	d.until("the stream is refused", func() bool { return d.app.link.refused != nil })
	d.sees("This user may not see deliveries", "POLL 2s")
	d.press(":", "'DB_Class", "enter")
	before := d.app.Front().(*browse.Browser).Pages.Generation()
	d.later(ms(3000))
	d.sees("POLL 2s", "row 1 of 14")
	if after := d.app.Front().(*browse.Browser).Pages.Generation(); after == before {
		t.Error("nothing was fetched again")
	}
}

// A message that was retried is seen to arrive in the list of problems, and
// leaves it after a while.
func TestArrivedMessageLeavesTheProblems(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "!")
	list := d.app.Front().(*messages.List)
	before := list.Pages.Total()
	one, _ := list.Selected()
	admin := s.client
	if err := admin.RemoveMessage(t.Context(), one.SubscriberID, one.SubscriptionID, one.MessageID); err != nil {
		t.Fatal(err)
	}
	code := 200
	d.send(liveMsg{session: d.app.link.session, beat: true, changes: []wire.MessageChange{{MessageID: one.MessageID, Status: 1, Retries: 1, HTTPCode: &code}}})
	d.sees("OK     inventory.", "←")
	d.wait(messages.ChangedFor - ms(2000))
	d.sees("←")
	d.wait(ms(4000))
	if now := list.Pages.Total(); now != before-1 || list.Pages.Find(one.MessageID) >= 0 {
		t.Errorf("%d messages are listed, want %d", now, before-1)
	}
}

// A failure is seen in the list of problems without a key, though the message was
// none of them when it came; of a delivery that got no answer the words are
// fetched.
func TestProblemsComeByThemselves(t *testing.T) {
	s := startDeliveries(t)
	s.subscribe(t, "creditor.created", "http://127.0.0.1:9/nobody")
	d := s.open(t, Options{})
	d.press("4", "!")
	d.sees("following", "of 4")
	if _, err := s.client.RaiseEvent(t.Context(), "creditor.created", "{}"); err != nil {
		t.Fatal(err)
	}
	d.until("the failure is listed", func() bool {
		d.wait(messages.FollowEvery)
		d.beat()
		return strings.Contains(d.text(), "of 5") && strings.Contains(d.text(), "connection r")
	})
}

// What changes right after the figures were fetched is fetched too, and so are
// figures that are a minute old: the last hour is another one then.
func TestHomeStaysUpToDate(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	h := d.app.Front().(*home.Screen)
	change := liveMsg{session: d.app.link.session, beat: true, changes: []wire.MessageChange{{MessageID: "new", Status: 1, At: wire.Moment(d.clock)}}}
	d.wait(ui.PollInterval)
	d.send(change)
	asked := h.Asked
	d.clock = d.clock.Add(ms(500))
	d.send(change)
	if h.Asked != asked {
		t.Error("the figures are fetched more often than every two seconds")
	}
	for range 3 {
		d.wait(time.Second)
		d.beat()
	}
	if h.Asked == asked {
		t.Error("the second change is not fetched")
	}
	asked = h.Asked
	for range 61 {
		d.beat()
		d.wait(time.Second)
	}
	if h.Asked == asked {
		t.Error("the figures of an hour are as they were a minute ago")
	}
}

// Screens that were not in front while changes were not told fetch their rows
// again when they are seen.
func TestScreensBehindMissNothing(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4")
	list := d.app.Front().(*messages.List)
	for name, miss := range map[string]func(){
		"a reset": func() { d.send(liveMsg{session: d.app.link.session, beat: true, reset: true}) },
		"a pause": func() {
			d.press("p")
			d.send(liveMsg{session: d.app.link.session, beat: true, changes: make([]wire.MessageChange, 3)})
			d.press("p")
		},
	} {
		d.press("1")
		before := list.Pages.Generation()
		miss()
		d.press("4")
		if list.Pages.Generation() == before {
			t.Errorf("after %s the rows are as they were", name)
		}
	}
	d.press("1")
	before := list.Pages.Generation()
	d.press("4")
	if list.Pages.Generation() != before {
		t.Error("rows that are up to date are fetched again")
	}
}

// A form that is sent twice before the answer is here makes one thing.
func TestFormIsSentOnce(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("3", "enter", "n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	for range 3 {
		d.Take(keys["ctrl+s"])
	}
	d.settle()
	d.sees("Created")
	d.press("esc")
	if n := len(d.app.Front().(*webhooks.Subscriptions).List); n != 4 {
		t.Errorf("there are %d subscriptions, want 4", n)
	}
	d.press("n", "'nothing.", "tab", "'http://127.0.0.1:9/x", "ctrl+s")
	d.sees("New subscription for")
	for range len("nothing.") {
		d.press("shift+tab", "backspace")
	}
	d.press("'debtor.created", "ctrl+s")
	d.sees("Created")
}
