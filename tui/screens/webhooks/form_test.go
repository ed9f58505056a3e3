package webhooks_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Validation errors are shown at their fields.
func TestFormShowsFieldErrors(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "enter", "n", "'salesorder.up", "tab", "'169.254.169.254/x", "ctrl+s")
	d.WantText("New subscription for acme-shop", "salesorder.updated", "169.254.169.254")
	for range len("https://169.254.169.254/x") {
		d.Press("backspace")
	}
	d.Press("'http://127.0.0.1:9/x", "ctrl+s")
	d.WantText("Created", "whsec_")
	d.Press("esc")
	d.WantText("salesorder.updated", "4 of 4")
}

// A form submitted several times before the response creates one subscription.
func TestFormIsSentOnce(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "enter", "n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	for range 3 {
		d.Deliver(tuitest.Keys["ctrl+s"])
	}
	d.Settle()
	d.WantText("Created")
	d.Press("esc")
	if n := len(d.App.Front().(*webhooks.Subscriptions).List); n != 4 {
		t.Errorf("there are %d subscriptions, want 4", n)
	}
	d.Press("n", "'nothing.", "tab", "'http://127.0.0.1:9/x", "ctrl+s")
	d.WantText("New subscription for")
	for range len("nothing.") {
		d.Press("shift+tab", "backspace")
	}
	d.Press("'debtor.created", "ctrl+s")
	d.WantText("Created")
}

// On every screen size the edited field is visible with its help or error, and the
// number of hidden lines is shown.
func TestFormShowsEditedField(t *testing.T) {
	for _, size := range tuitest.Sizes {
		d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
		d.Resize(size[0], size[1])
		f := webhooks.SubscriptionForm(d.App.Front().(webhooks.Polling), "New subscription", "salesorder", nil)
		d.App.ShowOverlay(f)
		for i := range 12 {
			headers := f.Fields[2+2*i:]
			headers[0].Set(fmt.Sprintf("X-Number-%d", i))
			headers[1].Set("a value")
			f.At = 3 + 2*i
			d.Press("tab")
		}
		const longError = "an error that is longer than one line of the form at any of these screen sizes"
		for i, field := range f.Fields {
			f.At = i
			checkFieldText(d, f, size, field.Help)
			field.Error = longError
			checkFieldText(d, f, size, longError)
			field.Error = ""
		}
	}
}

// checkFieldText reports an error unless the form shows a text of its selected field, and the
// number of hidden lines exactly if it has more lines than the screen.
func checkFieldText(d *tuitest.Driver, f *ui.Form, size [2]int, text string) {
	d.T.Helper()
	d.CheckScreen()
	if !strings.Contains(textWithoutFrames(d), text) {
		d.T.Fatalf("%v: field %d does not show %q:\n%s", size, f.At, text, d.Text())
	}
	height := size[1] - ui.ChromeHeight - 2
	lines, _, _ := f.Lines(min(size[0]-4, ui.MaxFormWidth)-4, height)
	if scrolls := furtherLines.MatchString(d.Text()); scrolls != (len(lines) > height) {
		d.T.Fatalf("%v: %d lines, hidden lines are indicated: %v\n%s", size, len(lines), scrolls, d.Text())
	}
}

// textWithoutFrames returns the text of the screen as one line, as if it was not wrapped.
func textWithoutFrames(d *tuitest.Driver) string {
	text := strings.NewReplacer("│", " ", "▌", " ").Replace(d.Text())
	return strings.Join(strings.Fields(text), " ")
}

// furtherLines matches the number of hidden lines in a frame.
var furtherLines = regexp.MustCompile(`[▲▼] \d+ more [─╮╯]`)

// Text that is too long for a field is rejected, not truncated.
func TestLongPasteIsRejected(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	d := s.OpenSubscriptions(t)
	long := "https://127.0.0.1/" + strings.Repeat("x", 4982)
	d.Press("n", "'debtor.updated", "tab")
	d.Erase()
	d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(long), Paste: true})
	f := d.App.Overlay().(*ui.Form)
	if got := f.Fields[1].Text(); got != long {
		t.Errorf("the field contains %d of %d characters", len(got), len(long))
	}
	d.CheckScreen()
	d.Press("ctrl+s")
	d.WantText("New subscription for", "2048")
	d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("y", ui.MaxField)), Paste: true})
	d.WantText("too long: a field holds")
	if got := f.Fields[1].Text(); got != long {
		t.Errorf("the field contains %d characters after the rejected paste, want %d", len(got), len(long))
	}
}

// A form cannot be submitted again after its response.
func TestFormIsNotSentAfterResponse(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	d := s.OpenSubscriptions(t)
	d.Press("n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	_, cmd := d.App.Update(tuitest.Keys["ctrl+s"])
	response := cmd()
	d.App.Update(response)
	d.WantText("Created")
	d.Press("ctrl+s")
	list, err := s.Client.Subscriptions(t.Context(), s.Subscriber)
	if err != nil || len(list) != 1 {
		t.Errorf("there are %d subscriptions, want 1: %v", len(list), err)
	}
}

// A new subscription is selected, so that the next key changes or tests that one.
func TestNewSubscriptionIsSelected(t *testing.T) {
	d := tuitest.StartReceiver(t, nil).OpenSubscriptions(t)
	for _, event := range []string{"salesorder.updated", "debtor.updated"} {
		d.Press("n", "'"+event, "tab", "'http://127.0.0.1:9/x", "ctrl+s")
		d.WantText("Created")
		d.Press("esc")
		if line := d.LineWith(event); !strings.Contains(line, d.App.Session.Theme.Pointer+"  "+event) {
			t.Errorf("%s is not selected:\n%s", event, d.Text())
		}
	}
}

// A secret is shown even if the list was left before the response.
func TestSecretIsShownAfterScreenChange(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	if _, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("wms")}); err != nil {
		t.Fatal(err)
	}
	d := s.OpenSubscriptions(t)
	d.Press("n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	_, cmd := d.App.Update(tuitest.Keys["ctrl+s"])
	d.Press("esc", "esc", "down", "enter")
	d.WantText("Subscribers › wms")
	d.Send(cmd())
	d.WantText("Created", "whsec_")
}

// The values of a chooser are selected by arrow keys, space and first letter.
func TestFormChooserKeys(t *testing.T) {
	subscription := wire.Subscription{RetrySchedule: "5s,30s,2m0s,1h0m0s,1h30m0s"}
	f := webhooks.SubscriptionFields(&ui.Form{}, subscription).Form
	ordered := f.Fields[len(f.Fields)-4]
	for _, test := range []struct {
		key  tea.KeyMsg
		want string
	}{
		{tuitest.Letter("y"), webhooks.Yes},
		{tuitest.Letter("z"), webhooks.Yes},
		{tuitest.Keys["right"], webhooks.ByKey},
		{tuitest.Keys["left"], webhooks.Yes},
		{tuitest.Keys["space"], webhooks.ByKey},
		{tuitest.Keys["backspace"], webhooks.ByKey},
		{tuitest.Letter("n"), webhooks.No},
	} {
		ordered.HandleKey(test.key)
		if ordered.Text() != test.want {
			t.Errorf("%v selects %q, want %q", test.key, ordered.Text(), test.want)
		}
	}
	if got := f.Fields[len(f.Fields)-3].Text(); got != "5s, 30s, 2m, 1h, 1h30m" {
		t.Errorf("the schedule is %q", got)
	}
}

// An enter as fast as a paste neither submits a form nor changes a chooser.
func TestPastedEnterIsIgnored(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	f := webhooks.SubscriptionForm(d.App.Front().(webhooks.Polling), "New subscription", "salesorder", nil)
	d.App.ShowOverlay(f)
	f.At = len(f.Fields) - 4
	ordered := f.Fields[f.At]
	d.Key(tuitest.Letter("y"))
	d.Send(tuitest.Keys["enter"])
	if ordered.Text() != webhooks.Yes {
		t.Errorf("y and enter choose %q", ordered.Text())
	}
	d.Key(tuitest.Keys["right"])
	d.Send(tuitest.Keys["enter"]) // no paste has arrows
	if ordered.Text() != webhooks.ByKey || f.At != len(f.Fields)-3 {
		t.Errorf("right and enter choose %q, and the field is %d", ordered.Text(), f.At)
	}
}

// Only a scheme typed after the one of the form is removed, and an unchanged URL is
// not changed.
func TestDuplicateSchemeIsRemoved(t *testing.T) {
	for typed, want := range map[string]string{
		"https://http://a.test/x":  "http://a.test/x",
		"https://https://a.test/x": "https://a.test/x",
		"https://httpbin.test/x":   "https://httpbin.test/x",
		"https://https.test/":      "https://https.test/",
		"http://a.test/":           "http://a.test/",
	} {
		values := map[string]string{"URL": typed}
		request := webhooks.SubscriptionOf(values, wire.Subscription{URL: "https://was.test/"})
		if *request.URL != want {
			t.Errorf("%s: %s is sent, want %s", typed, *request.URL, want)
		}
		request = webhooks.SubscriptionOf(values, wire.Subscription{URL: typed})
		if request.URL != nil {
			t.Errorf("%s was not changed, and %s is sent", typed, *request.URL)
		}
	}
}

// A condition is checked by the form, and shown as JSON when the subscription is changed.
func TestConditionOfSubscription(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	d := s.OpenSubscriptions(t)
	d.Press("n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	conditionField(d)
	d.Press("'Status: 1 -> 2", "ctrl+s")
	d.WantText("the event is posted")
	d.Erase()
	d.Press("'Total > 1000  Shop^=n", "ctrl+s")
	d.WantText("Created")
	const where = `{"TotalGreaterThan":1000,"ShopStartsWith":"n"}`
	if got := onlyCondition(t, s); got != where {
		t.Fatalf("the condition is %q, want %q", got, where)
	}
	d.Press("esc", "E")
	if got := conditionField(d).Text(); got != where {
		t.Errorf("the condition is shown as %q, want %q", got, where)
	}
	d.Erase()
	d.Press("ctrl+s")
	d.WantText("done")
	if got := onlyCondition(t, s); got != "" {
		t.Errorf("the condition is %q, want none", got)
	}
}

// The names in a condition are completed with the fields of the event's kind.
func TestConditionSuggestsFields(t *testing.T) {
	d := tuitest.StartReceiver(t, nil).OpenSubscriptions(t)
	d.Press("n", "'salesorder.updated")
	field := conditionField(d)
	session := d.App.Session
	kind := session.Registry.Kinds()[0]
	session.Events = []wire.Event{{Name: "salesorder.updated", Kind: kind.Name}}
	name := kind.Fields[1].Name
	const before = "X: 1 -> 2  Before."
	list := field.Suggest(before + strings.ToLower(name[:len(name)-1]))
	if len(list) == 0 || list[0].Text != before+name {
		t.Errorf("the suggestions are %+v, want %s first", list, before+name)
	}
}

// conditionField selects the last field of the open form, the condition, and returns it.
func conditionField(d *tuitest.Driver) *ui.Field {
	d.T.Helper()
	f := d.App.Overlay().(*ui.Form)
	f.At = len(f.Fields) - 1
	return f.Fields[f.At]
}

// onlyCondition returns the condition of the only subscription.
func onlyCondition(t *testing.T, s *tuitest.Deliveries) string {
	t.Helper()
	list, err := s.Client.Subscriptions(t.Context(), s.Subscriber)
	if err != nil || len(list) != 1 {
		t.Fatalf("there are %d subscriptions, want 1: %v", len(list), err)
	}
	return string(list[0].Where)
}
