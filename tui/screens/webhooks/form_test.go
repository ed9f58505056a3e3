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
	d.WantText("salesorder.updated", "row 4 of 4")
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
		for at, field := range f.Fields {
			for _, wrong := range []string{"", "an error that is longer than one line of the form at any of these screen sizes"} {
				f.At, field.Error = at, wrong
				d.CheckScreen()
				shown := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "▸", " ").Replace(d.Text())), " ")
				if text := field.Error + field.Help; wrong == "" && !strings.Contains(shown, text) || wrong != "" && !strings.Contains(shown, wrong) {
					t.Fatalf("%v: field %d does not show %q:\n%s", size, at, text, d.Text())
				}
				lines, _, _ := f.Lines(min(size[0]-4, ui.MaxFormWidth)-4, size[1]-ui.ChromeHeight-2)
				if scrolls := furtherLines.MatchString(d.Text()); scrolls != (len(lines) > size[1]-ui.ChromeHeight-2) {
					t.Fatalf("%v: %d lines, hidden lines are indicated: %v\n%s", size, len(lines), scrolls, d.Text())
				}
				field.Error = ""
			}
		}
	}
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
		t.Errorf("the field contains %d characters", len(got))
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
	if list, err := s.Client.Subscriptions(t.Context(), s.Subscriber); err != nil || len(list) != 1 {
		t.Errorf("there are %d subscriptions, %v", len(list), err)
	}
}

// A new subscription is selected, so that the next key changes or tests that one.
func TestNewSubscriptionIsSelected(t *testing.T) {
	d := tuitest.StartReceiver(t, nil).OpenSubscriptions(t)
	for _, event := range []string{"salesorder.updated", "debtor.updated"} {
		d.Press("n", "'"+event, "tab", "'http://127.0.0.1:9/x", "ctrl+s")
		d.WantText("Created")
		d.Press("esc")
		if line := d.LineWith(event); !strings.Contains(line, d.App.Session.Theme.Pointer+" "+event) {
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
	f := webhooks.SubscriptionFields(&ui.Form{}, wire.Subscription{RetrySchedule: "5s,30s,2m0s,1h0m0s,1h30m0s"}).Form
	ordered := f.Fields[len(f.Fields)-3]
	for _, test := range []struct {
		key  tea.KeyMsg
		want string
	}{
		{tuitest.Letter("y"), webhooks.Yes}, {tuitest.Letter("z"), webhooks.Yes}, {tuitest.Keys["right"], webhooks.ByKey}, {tuitest.Keys["left"], webhooks.Yes}, {tuitest.Keys["space"], webhooks.ByKey}, {tuitest.Keys["backspace"], webhooks.ByKey}, {tuitest.Letter("n"), webhooks.No},
	} {
		ordered.HandleKey(test.key)
		if ordered.Text() != test.want {
			t.Errorf("%v: %q, want %q", test.key, ordered.Text(), test.want)
		}
	}
	if got := f.Fields[len(f.Fields)-2].Text(); got != "5s, 30s, 2m, 1h, 1h30m" {
		t.Errorf("the schedule is %q", got)
	}
}

// An enter as fast as a paste neither submits a form nor changes a chooser.
func TestPastedEnterIsIgnored(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	f := webhooks.SubscriptionForm(d.App.Front().(webhooks.Polling), "New subscription", "salesorder", nil)
	d.App.ShowOverlay(f)
	f.At = len(f.Fields) - 3
	ordered := f.Fields[f.At]
	d.Key(tuitest.Letter("y"))
	d.Send(tuitest.Keys["enter"])
	if ordered.Text() != webhooks.Yes {
		t.Errorf("y and enter choose %q", ordered.Text())
	}
	d.Key(tuitest.Keys["right"])
	d.Send(tuitest.Keys["enter"]) // no paste has arrows
	if ordered.Text() != webhooks.ByKey || f.At != len(f.Fields)-2 {
		t.Errorf("right and enter choose %q, and the field is %d", ordered.Text(), f.At)
	}
}

// Only a scheme typed after the one of the form is removed, and an unchanged URL is
// not changed.
func TestDuplicateSchemeIsRemoved(t *testing.T) {
	for typed, want := range map[string]string{
		"https://http://a.test/x": "http://a.test/x", "https://https://a.test/x": "https://a.test/x",
		"https://httpbin.test/x": "https://httpbin.test/x", "https://https.test/": "https://https.test/", "http://a.test/": "http://a.test/",
	} {
		if request := webhooks.SubscriptionOf(map[string]string{"URL": typed}, wire.Subscription{URL: "https://was.test/"}); *request.URL != want {
			t.Errorf("%s: %s is sent, want %s", typed, *request.URL, want)
		}
		if request := webhooks.SubscriptionOf(map[string]string{"URL": typed}, wire.Subscription{URL: typed}); request.URL != nil {
			t.Errorf("%s was not touched, and %s is sent", typed, *request.URL)
		}
	}
}

// A condition is checked by the form, completed with the fields of the event's kind, and shown
// as JSON when the subscription is changed.
func TestConditionOfSubscription(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	d := s.OpenSubscriptions(t)
	d.Press("n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	f := d.App.Overlay().(*ui.Form)
	f.At = len(f.Fields) - 1
	d.Press("'Status: 1 -> 2", "ctrl+s")
	d.WantText("the event is posted")
	d.Erase()
	d.Press("'Total > 1000  Shop^=n", "ctrl+s")
	d.WantText("Created")
	list, err := s.Client.Subscriptions(t.Context(), s.Subscriber)
	if err != nil || len(list) != 1 || string(list[0].Where) != `{"TotalGreaterThan":1000,"ShopStartsWith":"n"}` {
		t.Fatalf("%+v, %v", list, err)
	}
	d.Press("esc", "E")
	f = d.App.Overlay().(*ui.Form)
	where := f.Fields[len(f.Fields)-1]
	if where.Text() != `{"TotalGreaterThan":1000,"ShopStartsWith":"n"}` {
		t.Errorf("shown as %q", where.Text())
	}
	kind := f.Session.Registry.Kinds()[0]
	f.Session.Events = []wire.Event{{Name: "salesorder.updated", Kind: kind.Name}}
	name := kind.Fields[1].Name
	if list := where.Suggest("X: 1 -> 2  Before." + strings.ToLower(name[:len(name)-1])); len(list) == 0 || list[0].Text != "X: 1 -> 2  Before."+name {
		t.Errorf("the suggestions for %s are %+v", name, list)
	}
	f.Session.Events = nil
	f.At = len(f.Fields) - 1
	d.Erase()
	d.Press("ctrl+s")
	d.WantText("done")
	if list, err = s.Client.Subscriptions(t.Context(), s.Subscriber); err != nil || list[0].Where != nil {
		t.Errorf("%+v, %v", list, err)
	}
}
