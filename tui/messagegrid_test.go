package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/ui"
)

// list is the list of messages in front.
func (d *driver) list() *messages.List { return d.app.Front().(*messages.List) }

// copies is what a key copies.
func (d *driver) copies(key string) string {
	d.t.Helper()
	d.copied.Reset()
	d.press(key)
	return d.lastCopied()
}

// to goes to a column by its name.
func (d *driver) to(column string) {
	d.t.Helper()
	d.press("0")
	for d.list().Column().Name != column {
		at := d.list().Grid.ColumnAt()
		d.press("l")
		if d.list().Grid.ColumnAt() == at {
			d.t.Fatalf("there is no way to %s", column)
		}
	}
}

// Every column is reached on the smallest screen, and the one for signs is none
// to stop at.
func TestMessageColumnsAreReached(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	d.press("4")
	d.resize(60, 15)
	var seen []string
	for range messages.UsualColumns {
		seen = append(seen, d.list().Column().Name)
		d.sees(d.list().Column().Name)
		d.press("l")
	}
	if !slices.Equal(seen, messages.UsualMessageColumns()) {
		t.Errorf("columns %v", seen)
	}
	d.press("$", "h")
	if at := d.list().Column().Name; at != messages.AgeColumn {
		t.Errorf("%s is before the last column", at)
	}
	d.press("0")
	d.sees("Status")
	d.checkScreen()
}

// Rows are ordered by the column where the service can, and followed while the
// newest come first.
func TestMessagesAreSorted(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	d.press("4")
	d.to("Status")
	statuses := func() (all []int) {
		m := d.list()
		for i := range m.Grid.Len() {
			all = append(all, m.Known[m.Pages.Row(i).ID].Status)
		}
		return all
	}
	d.press("s")
	if all := statuses(); !slices.IsSorted(all) || d.list().Grid.Following() {
		t.Errorf("ordered by status: %v, following %v", all, d.list().Grid.Following())
	}
	d.sees("Status ▲", "of 8")
	d.press("s")
	if all := statuses(); all[0] != 3 {
		t.Errorf("ordered by status downwards: %v", all)
	}
	if twin := d.list().Equivalent(); !strings.HasSuffix(twin, "--order-by -Status") {
		t.Errorf("the same is %s", twin)
	}
	if by := d.list().Exportable().Query.OrderBy; !slices.Equal(by, []string{"-Status"}) {
		t.Errorf("exported by %v", by)
	}
	d.press("s")
	d.sees("following")
	d.to(messages.AgeColumn)
	d.press("s", "s")
	d.sees("Age ▼", "following")
	d.press("0")
	d.send(tea.MouseMsg{X: 5, Y: ui.LinesAbove, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	d.sees("Status ▲")
	d.to("Subscriber")
	d.press("s")
	d.sees("the service cannot order by subscriber")
	d.press("f")
	d.sees("nothing can be typed about subscribers: = keeps")
}

// = keeps what is the same in the column, whatever that is.
func TestMessagesWithTheSame(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	for _, test := range []struct {
		column, badge string
		same          func(m, one wire.Message) bool
	}{
		{"Status", "[Status=2]", func(m, one wire.Message) bool { return m.Status == one.Status }},
		{"Event", "[EventName=debtor.updated]", func(m, one wire.Message) bool { return m.EventName == one.EventName }},
		{"To", "[debtor.* to 127.0.0.1:", func(m, one wire.Message) bool { return m.SubscriptionID == one.SubscriptionID }},
		{"HTTP", "[LastMessageResponseHTTPCode=503]", func(m, one wire.Message) bool { return *m.LastMessageResponseHTTPCode == 503 }},
		{"Subscriber", "[acme-shop]", func(m, one wire.Message) bool { return m.SubscriberID == one.SubscriberID }},
		{"Try", "[Retries=0]", func(m, one wire.Message) bool { return m.Retries == one.Retries }},
	} {
		d.press("4", "F", "g", "j", "j")
		one, _ := d.list().Selected()
		d.to(test.column)
		d.press("=")
		d.sees(test.badge)
		m := d.list()
		want := 0
		for _, other := range m.Known {
			if test.same(other, one) {
				want++
			}
		}
		if n := m.Pages.Total(); n == 0 || n != want || one.Status != 2 {
			t.Errorf("%s: %d messages, want %d; one is %+v", test.column, n, want, one)
		}
	}
	d.press("F")
	d.to("Next")
	d.press("=")
	d.sees("no two messages have the same next: f filters by it")
	d.to("HTTP")
	d.press("f")
	d.sees("/ LastMessageResponseHTTPCode")
}

// What is copied is the cell, of the status the id, and the row as JSON; of
// marked rows their cells.
func TestMessagesAreCopied(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	d.press("4", "j")
	one, _ := d.list().Selected()
	for column, want := range map[string]string{"Status": one.MessageID, "Event": one.EventName, "To": one.URL, "HTTP": "400", "Subscriber": "acme-shop"} {
		d.to(column)
		if got := d.copies("y"); got != want {
			t.Errorf("of %s %q is copied, want %q", column, got, want)
		}
	}
	var row map[string]any
	if err := json.Unmarshal([]byte(d.copies("Y")), &row); err != nil || row["MessageID"] != one.MessageID || row["Body"] != nil {
		t.Errorf("the row is %v, %v", row, err)
	}
	d.press("0", "space", "space")
	if lines := strings.Split(d.copies("Y"), "\n"); len(lines) != 2 || strings.Count(lines[0], "\t") != len(messages.UsualColumns)-1 || !strings.HasPrefix(lines[0], "FAIL\t"+one.EventName) {
		t.Errorf("marked rows are %q", lines)
	}
}

// Columns are chosen as those of records are, and kept; which messages were
// looked for is not.
func TestMessageColumnsAreKept(t *testing.T) {
	s := startDeliveries(t)
	o := Options{State: t.TempDir(), Profile: "test"}
	d := s.open(t, o)
	d.press("4", "C")
	d.sees("Columns: Messages", fmt.Sprintf("%d of %d shown", len(messages.UsualColumns), len(messages.Columns())))
	d.press("j", "j", "space", "j", "K", "K", "enter")
	if names := d.list().Names(); !slices.Equal(names, []string{"Status", "Event", "HTTP", "Try", "Next", "Age", "Subscriber"}) {
		t.Errorf("columns %v", names)
	}
	d.to("Event")
	d.press(">", "z", "s", "!")
	d.wait(ms(1500))
	again := s.open(t, o)
	again.press("4")
	m := again.list()
	if !slices.Equal(m.Names(), d.list().Names()) || m.Grid.Frozen() != 2 || m.Grid.Widths()["Event"] == 0 {
		t.Errorf("columns %v, %d frozen, widths %v", m.Names(), m.Grid.Frozen(), m.Grid.Widths())
	}
	again.sees("of 8", "following")
	again.press("C", "*", "*", "enter")
	again.sees("at least one column")
	again.press("h", "r", "enter")
	if names := again.list().Names(); !slices.Equal(names, messages.UsualMessageColumns()) {
		t.Errorf("columns %v", names)
	}
}

// A view has the order and the columns too.
func TestViewOfMessagesHasItsOrder(t *testing.T) {
	d := startDeliveries(t).open(t, Options{State: t.TempDir(), Profile: "test"})
	d.press("4", "!", "!")
	d.to("HTTP")
	d.press("s", "s", ":", "'save stuck", "enter", "F", ":", "'stuck", "enter")
	d.sees("Messages (stuck)", "[not delivered]", "HTTP ▼", "of 4")
	if twin := d.list().Equivalent(); twin != `whctl messages list --where "Status in 0,2,3" --order-by -LastMessageResponseHTTPCode` {
		t.Errorf("the same is %s", twin)
	}
}

// The names of subscribers are fetched where the figures do not have them.
func TestSubscribersOfMessages(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.resize(120, 40)
	d.app.Queues = ui.Queues{}
	d.press("4")
	d.sees("acme-shop")
	d.press("enter")
	d.sees("subscriber acme-shop " + ui.ShortID(s.subscriber))
	d.app.stacks[messagesTab][0].(*messages.List).Subscribers = nil
	d.press("esc", "t")
	d.sees(ui.ShortID(s.subscriber))
}
