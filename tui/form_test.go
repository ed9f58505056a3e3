package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// subscriptionsOf opens the list of subscriptions of the first subscriber.
func (s *deliveries) subscriptionsOf(t *testing.T) *driver {
	t.Helper()
	d := s.open(t, Options{})
	d.press("3", "enter")
	d.sees("acme-shop")
	return d
}

// erase takes away what a field holds.
func (d *driver) erase() { d.press("ctrl+u") }

// Each form says in its own words what its keys do, in the line of hints too.
func TestFormsSayWhatTheyDo(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	for _, test := range []struct {
		keys []string
		does string
		try  bool
	}{
		{[]string{"3", "n"}, "create", false},
		{[]string{"3", "E"}, "change", false},
		{[]string{"3", "enter", "n"}, "create", true},
		{[]string{"3", "enter", "E"}, "change", true},
		{[]string{"5", "n"}, "create", true},
		{[]string{"2", "enter", "e"}, "export", false},
		{[]string{":", "'bill", "enter"}, "show", false},
		{[]string{":", "'login", "enter"}, "sign in", false},
	} {
		d.press(test.keys...)
		lines := strings.Split(d.text(), "\n")
		last, tries := lines[len(lines)-1], fmt.Sprintf("ctrl+t %s and test", test.does)
		if !strings.Contains(last, "ctrl+s "+test.does+"  ") || strings.Contains(last, tries) != test.try {
			t.Errorf("%v: the hints are %q", test.keys, last)
		}
		d.sees("ctrl+s " + test.does + "   ")
		d.press("esc", "esc", "esc")
	}
}

// On every size the field that is edited is seen whole, with its help or what is
// wrong with it, and what is not seen is counted.
func TestFormScrolls(t *testing.T) {
	for _, size := range sizes {
		d := drive(t, unreachable(t), Options{})
		d.resize(size[0], size[1])
		f := webhooks.SubscriptionForm(d.app.Front().(webhooks.Polling), "New subscription", "salesorder", nil)
		d.app.over = f
		for i := range 12 {
			headers := f.Fields[2+2*i:]
			headers[0].Set(fmt.Sprintf("X-Number-%d", i))
			headers[1].Set("a value")
			f.At = 3 + 2*i
			d.press("tab")
		}
		for at, one := range f.Fields {
			for _, wrong := range []string{"", "it is wrong for a reason that takes more than one line of any of these boxes, whatever their size"} {
				f.At, one.Wrong = at, wrong
				d.checkScreen()
				shown := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "▸", " ").Replace(d.text())), " ")
				if said := one.Wrong + one.Help; wrong == "" && !strings.Contains(shown, said) || wrong != "" && !strings.Contains(shown, wrong) {
					t.Fatalf("%v: of field %d is not said %q:\n%s", size, at, said, d.text())
				}
				lines, _, _ := f.Lines(min(size[0]-4, ui.WidestForm)-4, size[1]-ui.LinesAround-2)
				if more := furtherLines.MatchString(d.text()); more != (len(lines) > size[1]-ui.LinesAround-2) {
					t.Fatalf("%v: %d lines, and there is said to be more: %v\n%s", size, len(lines), more, d.text())
				}
				one.Wrong = ""
			}
		}
	}
}

// furtherLines is what a frame says of lines that are not seen.
var furtherLines = regexp.MustCompile(`[▲▼] \d+ more [─╮╯]`)

// A paste sends no form: not with marks, and not key by key with its line ends.
func TestPasteSendsNoForm(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	sent := 0
	f := ui.NewForm(d.app, "A form", "send")
	f.Send = func(map[string]string, bool) tea.Cmd { sent++; return nil }
	f.Add("One", "One", "", "the only one")
	d.app.over = f
	d.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("first\nsecond\r\n"), Paste: true})
	if got := f.Fields[0].Text(); sent != 0 || got != "first second" {
		t.Errorf("sent %d times, with %q", sent, got)
	}
	d.erase()
	d.clock = d.clock.Add(ms(500))
	for range 3 {
		for _, r := range "line" {
			d.clock = d.clock.Add(ms(1))
			d.send(letter(string(r)))
		}
		d.send(keys["enter"])
	}
	if got := f.Fields[0].Text(); sent != 0 || got != "line line line" {
		t.Errorf("sent %d times, with %q", sent, got)
	}
	d.sees("taken for the line break of a paste")
	if d.press("enter"); sent != 1 {
		t.Errorf("enter was pressed, and it was sent %d times", sent)
	}
}

// What is too long for a field is not taken, and not cut to something else.
func TestTooLongIsNotTaken(t *testing.T) {
	s := startReceiver(t, nil)
	d := s.subscriptionsOf(t)
	long := "https://127.0.0.1/" + strings.Repeat("x", 4982)
	d.press("n", "'debtor.updated", "tab")
	d.erase()
	d.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(long), Paste: true})
	f := d.app.over.(*ui.Form)
	if got := f.Fields[1].Text(); got != long {
		t.Errorf("%d of %d characters are there", len(got), len(long))
	}
	d.checkScreen()
	d.press("ctrl+s")
	d.sees("New subscription for", "2048")
	d.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("y", ui.MaxField)), Paste: true})
	d.sees("too long and was not taken")
	if got := f.Fields[1].Text(); got != long {
		t.Errorf("it holds %d characters now", len(got))
	}
}

// A form cannot be sent again between its answer and what becomes of it.
func TestAnswerIsTakenAtOnce(t *testing.T) {
	s := startReceiver(t, nil)
	d := s.subscriptionsOf(t)
	d.press("n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	_, cmd := d.app.Update(keys["ctrl+s"])
	answer := cmd()
	d.app.Update(answer)
	d.sees("Created")
	d.press("ctrl+s")
	if list, err := s.client.Subscriptions(t.Context(), s.subscriber); err != nil || len(list) != 1 {
		t.Errorf("there are %d subscriptions, %v", len(list), err)
	}
}

// A secret is shown also where its list was left before it came.
func TestSecretIsShownElsewhere(t *testing.T) {
	s := startReceiver(t, nil)
	if _, err := s.client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("wms")}); err != nil {
		t.Fatal(err)
	}
	d := s.subscriptionsOf(t)
	d.press("n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	_, cmd := d.app.Update(keys["ctrl+s"])
	d.press("esc", "esc", "down", "enter")
	d.sees("Subscribers › wms")
	d.send(cmd())
	d.sees("Created", "whsec_")
}

// What a chooser can be is chosen by its first letter too.
func TestChooser(t *testing.T) {
	f := webhooks.SubscriptionFields(&ui.Form{}, wire.Subscription{RetrySchedule: "5s,30s,2m0s,1h0m0s,1h30m0s"}).Form
	ordered := f.Fields[len(f.Fields)-2]
	for _, test := range []struct {
		key  tea.KeyMsg
		want string
	}{
		{letter("y"), webhooks.Yes}, {letter("z"), webhooks.Yes}, {keys["right"], webhooks.No}, {keys["left"], webhooks.Yes}, {keys["space"], webhooks.No}, {keys["backspace"], webhooks.No},
	} {
		if ordered.Typed(test.key); ordered.Text() != test.want {
			t.Errorf("%v: %q, want %q", test.key, ordered.Text(), test.want)
		}
	}
	if got := f.Fields[len(f.Fields)-1].Text(); got != "5s, 30s, 2m, 1h, 1h30m" {
		t.Errorf("the schedule is %q", got)
	}
}

// An enter that comes as fast as a paste sends nothing, and chooses nothing.
func TestFastEnterChoosesNothing(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	f := webhooks.SubscriptionForm(d.app.Front().(webhooks.Polling), "New subscription", "salesorder", nil)
	d.app.over = f
	f.At = len(f.Fields) - 2
	ordered := f.Fields[f.At]
	d.key(letter("y"))
	d.send(keys["enter"])
	if ordered.Text() != webhooks.Yes {
		t.Errorf("y and enter choose %q", ordered.Text())
	}
	d.key(keys["right"])
	d.send(keys["enter"]) // no paste has arrows
	if ordered.Text() != webhooks.No || f.At != len(f.Fields)-1 {
		t.Errorf("right and enter choose %q, and the field is %d", ordered.Text(), f.At)
	}
}

// Only a scheme that was typed behind the one of the form is taken away, and an
// address that nobody has touched is not changed.
func TestSchemeTypedTwice(t *testing.T) {
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
