package messages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// list is the list of messages in front.
func list(d *tuitest.Driver) *messages.List { return d.App.Front().(*messages.List) }

// copiedBy returns the text that a key copies.
func copiedBy(d *tuitest.Driver, key string) string {
	d.T.Helper()
	d.Copied.Reset()
	d.Press(key)
	return d.LastCopied()
}

// selectColumn selects a column by name.
func selectColumn(d *tuitest.Driver, column string) {
	d.T.Helper()
	d.Press("0")
	for list(d).Columns.Selected().Name != column {
		before := list(d).Grid.Columns.Index()
		d.Press("l")
		if list(d).Grid.Columns.Index() == before {
			d.T.Fatalf("column %s cannot be selected", column)
		}
	}
}

// All columns can be selected on the smallest screen, except the marker column.
func TestAllMessageColumnsAreSelectable(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4")
	d.Resize(60, 15)
	var seen []string
	for range messages.DefaultColumns {
		seen = append(seen, list(d).Columns.Selected().Name)
		d.WantText(list(d).Columns.Selected().Name)
		d.Press("l")
	}
	if want := messages.DefaultColumnNames(); !slices.Equal(seen, want) {
		t.Errorf("l selects the columns %q, want %q", seen, want)
	}
	d.Press("$", "h")
	if name := list(d).Columns.Selected().Name; name != messages.AgeColumn {
		t.Errorf("h selects %s before the last column, want %s", name, messages.AgeColumn)
	}
	d.Press("0")
	d.WantText("Status")
	d.CheckScreen()
}

// Rows are sorted by the selected column, and followed while the newest come first.
func TestMessagesAreSortedBySelectedColumn(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4")
	selectColumn(d, "Status")
	statuses := func() (all []int) {
		m := list(d)
		for i := range m.Grid.Len() {
			all = append(all, m.Rows.Known[m.Pages.Row(i).ID].Status)
		}
		return all
	}
	d.Press("s")
	if all := statuses(); !slices.IsSorted(all) || list(d).Grid.Following() {
		t.Errorf("after s: the statuses are %v, following %v; want ascending, false", all, list(d).Grid.Following())
	}
	d.WantText("Status ▲", "of 8")
	d.Press("s")
	if all := statuses(); all[0] != ui.StatusFailed {
		t.Errorf("after s again: the statuses are %v, want descending", all)
	}
	if command := list(d).Equivalent(); !strings.HasSuffix(command, "--order-by -Status") {
		t.Errorf("the equivalent command is %s", command)
	}
	if by := list(d).Marks.Exportable().Query.OrderBy; !slices.Equal(by, []string{"-Status"}) {
		t.Errorf("exported by %v", by)
	}
	d.Press("s")
	d.WantText("following")

	// The newest messages are followed also if they are sorted explicitly.
	selectColumn(d, messages.AgeColumn)
	d.Press("s", "s")
	d.WantText("Age ▼", "following")
	d.Press("0")
	d.Send(tea.MouseMsg{X: 5, Y: ui.HeaderHeight + 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	d.WantText("Status ▲")
	selectColumn(d, "Subscriber")
	d.Press("s")
	d.WantText("cannot sort by subscriber: messages contain only the ID")
	d.Press("f")
	d.WantText("cannot filter by subscriber name; = filters by this one")
}

// Key = filters by the value of the selected cell.
func TestFilterByCellValue(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	for _, test := range []struct {
		column, badge string
		isSame        func(m, selected wire.Message) bool // in the column
	}{
		{
			"Status", "[Status=retrying]",
			func(m, selected wire.Message) bool { return m.Status == selected.Status },
		},
		{
			"Event", "[EventName=debtor.updated]",
			func(m, selected wire.Message) bool { return m.EventName == selected.EventName },
		},
		{
			"To", "[debtor.* to 127.0.0.1:",
			func(m, selected wire.Message) bool { return m.SubscriptionID == selected.SubscriptionID },
		},
		{
			"HTTP", "[LastMessageResponseHTTPCode=503]",
			func(m, _ wire.Message) bool { return *m.LastMessageResponseHTTPCode == 503 },
		},
		{
			"Subscriber", "[acme-shop]",
			func(m, selected wire.Message) bool { return m.SubscriberID == selected.SubscriberID },
		},
		{
			"Att.", "[Retries=0]",
			func(m, selected wire.Message) bool { return m.Retries == selected.Retries },
		},
	} {
		d.Press("4", "F", "g", "j", "j")
		selected, _ := list(d).Selected()
		selectColumn(d, test.column)
		d.Press("=")
		d.WantText(test.badge)
		l := list(d)
		for _, m := range l.Rows.Known {
			if !test.isSame(m, selected) {
				t.Errorf("%s: the filtered list has %+v, want messages like %+v", test.column, m, selected)
			}
		}
		n, known := l.Pages.Total(), len(l.Rows.Known)
		if n == 0 || n != known || selected.Status != ui.StatusRetrying {
			t.Errorf("%s: %d messages, %d of them loaded; want the same number, and a retrying one selected",
				test.column, n, known)
		}
	}

	d.Press("F")
	selectColumn(d, "Next")
	d.Press("=")
	d.WantText("each message has a different next; f filters by a range")
	selectColumn(d, "HTTP")
	d.Press("f")
	d.WantText("/ LastMessageResponseHTTPCode")
}

// Copy returns the cell (the ID for the status), the row as JSON, or the cells of
// marked rows.
func TestCopyCellAndRows(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "j")
	selected, _ := list(d).Selected()
	for column, want := range map[string]string{
		"Status":     selected.MessageID,
		"Event":      selected.EventName,
		"To":         selected.URL,
		"HTTP":       "400",
		"Subscriber": "acme-shop",
	} {
		selectColumn(d, column)
		if got := copiedBy(d, "y"); got != want {
			t.Errorf("y in the column %s copies %q, want %q", column, got, want)
		}
	}

	var row map[string]any
	if err := json.Unmarshal([]byte(copiedBy(d, "Y")), &row); err != nil {
		t.Fatal(err)
	}
	if row["MessageID"] != selected.MessageID || row["Body"] != nil {
		t.Errorf("Y copies %v, want the message %s without the body", row, selected.MessageID)
	}

	d.Press("0", "space", "space")
	lines := strings.Split(copiedBy(d, "Y"), "\n")
	if len(lines) != 2 {
		t.Fatalf("Y copies %q, want two marked rows", lines)
	}
	start, tabs := "failed\t"+selected.EventName, len(messages.DefaultColumns)-1
	if !strings.HasPrefix(lines[0], start) || strings.Count(lines[0], "\t") != tabs {
		t.Errorf("the first marked row is copied as %q, want %q at its start and %d tabs", lines[0], start, tabs)
	}
}

// Columns are selected in the chooser and kept across sessions; filters are not.
func TestMessageColumnsAreSaved(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	o := tui.Options{State: t.TempDir(), Profile: "test"}
	d := s.Open(t, o)
	d.Press("4", "C")
	shown := fmt.Sprintf("%d of %d shown", len(messages.DefaultColumns), len(messages.Columns()))
	d.WantText("Columns: Messages", shown)
	d.Press("j", "j", "space", "j", "K", "K", "enter")
	want := []string{"Status", "Event", "HTTP", "Att.", "Next", "Age", "Subscriber"}
	if names := list(d).Columns.Names(); !slices.Equal(names, want) {
		t.Errorf("the chosen columns are %q, want %q", names, want)
	}
	selectColumn(d, "Event")
	d.Press(">", "z", "s", "!")
	d.Wait(1500 * time.Millisecond) // until they are saved

	restarted := s.Open(t, o)
	restarted.Press("4")
	m := list(restarted)
	if names := m.Columns.Names(); !slices.Equal(names, want) {
		t.Errorf("in the next session, the columns are %q, want %q", names, want)
	}
	frozen, widths := m.Grid.Columns.Frozen(), m.Grid.Columns.Widths()
	if frozen != 2 || widths["Event"] == 0 {
		t.Errorf("in the next session, %d columns are frozen, the widths are %v; want 2, that of Event", frozen, widths)
	}
	restarted.WantText("of 8", "following")

	restarted.Press("C", "*", "*", "enter")
	restarted.WantText("at least one column")
	restarted.Press("h", "r", "enter")
	if names := list(restarted).Columns.Names(); !slices.Equal(names, messages.DefaultColumnNames()) {
		t.Errorf("after a reset, the columns are %q, want the default ones", names)
	}
}

// A view saves order and columns.
func TestMessageViewSavesOrder(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{State: t.TempDir(), Profile: "test"})
	d.Press("4", "!", "!")
	selectColumn(d, "HTTP")
	d.Press("s", "s", ":", "'save stuck", "enter", "F", ":", "'stuck", "enter")
	d.WantText("Messages (stuck)", "[not delivered]", "HTTP ▼", "of 4")
	const want = `whctl messages list --where "Status in 0,2,3" --order-by -LastMessageResponseHTTPCode`
	if command := list(d).Equivalent(); command != want {
		t.Errorf("the equivalent command is %s, want %s", command, want)
	}
}

// Names of subscribers are fetched if the queue statistics do not have them.
func TestSubscriberNamesAreFetched(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	d.App.Session.Queues = ui.Queues{}
	d.Press("4")
	d.WantText("acme-shop")
	l := list(d)
	d.Press("enter")
	d.WantText("subscriber acme-shop " + ui.ShortID(s.Subscriber))
	l.Subscribers.Fetched = nil
	d.Press("esc", "t")
	d.WantText(ui.ShortID(s.Subscriber))
}

// In a message, the cursor goes from field to field, and y copies the value of the field:
// also one that is too long for a line.
func TestCopyFieldOfMessage(t *testing.T) {
	long := strings.Repeat("0123456789", 12)
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("upstream is down\nsecond line"))
	})
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C\"0","Note":"`+long+`","Total":12.50}`, 2)
	d := s.Open(t, tui.Options{})
	d.Press("4", "enter")
	message := d.App.Front().(*messages.Detail).Content.Message
	for _, test := range []struct {
		keys []string
		want string
	}{
		{nil, "upstream is down\nsecond line"},
		// the body
		{[]string{"tab", "down"}, `C"0`},
		{[]string{"down"}, long},
		{[]string{"down"}, long}, // its second line
		{[]string{"down"}, "12.50"},
		// the headers
		{[]string{"tab"}, message.URL},
		{[]string{"down", "down"}, message.MessageID},
		{[]string{"end", "up"}, message.SubscriptionID},
	} {
		d.Press(test.keys...)
		if got := copiedBy(d, "y"); got != test.want {
			t.Errorf("after %q, y copies %q, want %q:\n%s", test.keys, got, test.want, d.Text())
		}
	}
	d.CheckScreen()
}

// An empty list shows the first messages, in every way in which it is fetched again.
func TestEmptyListShowsFirstMessages(t *testing.T) {
	for name, fetch := range map[string]func(d *tuitest.Driver){
		"R":       func(d *tuitest.Driver) { d.Press("R") },
		"a reset": func(d *tuitest.Driver) { d.Live(tui.LiveMsg{Beat: true, Reset: true}) },
		"a poll": func(d *tuitest.Driver) {
			d.Run(list(d).Poll())
			d.Settle()
		},
		"the live stream": func(d *tuitest.Driver) {
			d.WaitUntil("the message is shown", func() bool {
				d.Wait(2 * time.Second)
				d.Heartbeat()
				return list(d).Grid.Len() > 0
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusOK))
			s.Subscribe(t, "salesorder.created", s.Receiver+"/erp")
			d := s.Open(t, tui.Options{})
			d.Press("4")
			d.WantText("No message")
			s.Publish(t, "salesorder.created", `{"InvoiceNo":"D1"}`, 1)
			fetch(d)
			d.WantText("1 of 1", "delivered")
		})
	}
}

// An empty list shows the key that clears its filter, and the number of messages without it.
func TestEmptyListCountsMessagesWithoutFilter(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusOK))
	s.Subscribe(t, "salesorder.created", s.Receiver+"/erp")
	s.Publish(t, "salesorder.created", `{"InvoiceNo":"D1"}`, 1)
	d := s.Open(t, tui.Options{})
	d.Press("4", "/", "'EventName=nope", "enter")
	d.WantText("No message matches EventName=nope. F clears the filter (1 without it).")
	d.Press("F")
	d.WantText("1 of 1")
}
