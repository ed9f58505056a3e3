package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A walk does everything that can be done, and says yes to every question.
type walk struct {
	*tuitest.Driver
	done map[string]bool // the keys that mean the same on several screens
}

// screensWithActions are the keys that open the screens on which something can
// be done to deliveries.
var screensWithActions = [][]string{
	{"1"}, {"2"}, {":", "'SO_Totals", "enter"}, {":", "'SO_Totals", "enter", "enter"}, {"3"}, {"3", "enter"}, {"3", "enter", "i"}, {"4"}, {"4", "a"}, {"4", "space", "space"},
	{"4", "enter"}, {"5"}, {"6"}, {"6", "enter"},
}

// leave is what a walk does not press, since nothing but the walk would end.
var leave = []keymap.Action{keymap.Quit, keymap.Suspend, keymap.Redraw}

// at goes to a screen from wherever it is.
func (w *walk) at(place []string) {
	w.T.Helper()
	w.Quit = false
	w.App.Home()
	w.Press(place...)
	if m, ok := w.App.Front().(*messages.List); ok && !slices.Contains(place, "a") && !slices.Contains(place, "space") {
		m.Unmark()
	}
}

// yes answers whatever is asked.
func (w *walk) yes() {
	w.T.Helper()
	for range 6 {
		w.Clock = w.Clock.Add(time.Second)
		switch over := w.App.Overlay().(type) {
		case *ui.Confirm:
			w.Press("y")
		case *ui.TypedConfirm:
			w.Press("'"+over.Word, "enter")
		case *ui.Form:
			w.fill(over)
			w.Press("ctrl+s")
		case nil:
			return
		default:
			w.Press("enter", "y")
		}
	}
}

// fill puts something into every field of a form.
func (w *walk) fill(f *ui.Form) {
	for _, one := range f.Fields {
		if one.Options == nil && !one.Stored && one.Name != webhooks.HeadersField {
			one.Input.SetValue(map[string]string{"URL": "http://127.0.0.1:9/x", "EventName": "debtor.updated", webhooks.SubscriberField: "acme-shop", webhooks.ScheduleField: "5s", browse.ExportPath: "/nowhere/x"}[one.Name])
		}
		if one.Input.Value() == "" && !one.Masked && one.Name != webhooks.HeadersField {
			one.Input.SetValue("filled")
		}
	}
}

// everything presses every key and every row of the menu on every screen, and
// says every name in the palette.
func (w *walk) everything() {
	w.T.Helper()
	shared := []keymap.Scope{keymap.Everywhere, keymap.InLists, keymap.InGrids}
	for _, place := range screensWithActions {
		w.at(place)
		scopes := append(w.App.Front().Scopes(), keymap.Everywhere)
		for _, s := range scopes {
			for _, b := range keymap.Bindings.Within(scopes, s) {
				if slices.Contains(leave, b.Action) || slices.Contains(shared, s) && w.done[b.Keys] {
					continue
				}
				w.done[b.Keys] = true
				w.at(place)
				w.Press(named(b.KeyNames()[0]))
				w.yes()
				w.at(place)
				w.fromMenu(b)
			}
		}
		w.Wait(10 * time.Second) // what waits to be undone is done then
	}
	for _, one := range w.App.Targets() {
		if one == "quit" {
			continue
		}
		rest := ""
		if one == "bill" {
			rest = " B/S/F"
		}
		w.at([]string{"3", "enter"})
		w.App.TypeCommand(one + rest)
		w.Press("enter")
		w.yes()
	}
}

// named is a key as the driver calls it.
func named(key string) string {
	if key == " " {
		return "space"
	}
	return key
}

// fromMenu does what a binding does by the list of actions.
func (w *walk) fromMenu(b keymap.Binding) {
	w.T.Helper()
	w.Press("x")
	if w.App.Choosing() && w.App.ChooseAction(func(row keymap.Binding) bool { return row.Scope == b.Scope && row.Keys == b.Keys }) {
		w.Press("enter")
		w.yes()
	}
}

// forms sends the forms and the commands themselves, which the keys of a
// read-only session do not even open.
func (w *walk) forms() {
	w.T.Helper()
	a := w.App
	w.at([]string{"3"})
	subscribers := a.Front().(*webhooks.Subscribers)
	w.Press("enter")
	subscriptions := a.Front().(*webhooks.Subscriptions)
	w.at([]string{"5"})
	events := a.Front().(*webhooks.Events)
	w.at([]string{"4"})
	list := a.Front().(*messages.List)
	for _, f := range []ui.Overlay{
		subscribers.NewForm(), subscribers.ChangeForm(wire.Subscriber{RecID: "W"}),
		subscriptions.NewForm("debtor.updated"), webhooks.ChangeForm(subscriptions, subscriptions.Subscriber, wire.Subscription{RecID: "S", SubscriberID: "W"}), events.NewForm("debtor.updated"),
	} {
		a.ShowOverlay(f)
		w.yes()
	}
	one := wire.Subscription{RecID: "S", SubscriberID: "W"}
	message := wire.Message{MessageID: "M", SubscriptionID: "S", SubscriberID: "W"}
	for _, cmd := range []tea.Cmd{
		messages.RetryOne(events, message, nil), messages.RemoveOne(events, message, nil), list.RetryMany(map[string][]string{"All": {"true"}}, "retry"), list.RemoveMany(map[string][]string{"All": {"true"}}, "delete"),
		webhooks.TestSubscription(a, one), webhooks.EnableSubscription(subscriptions, one, true), webhooks.RemoveSubscription(events, one),
		webhooks.EnableSubscriber(events, wire.Subscriber{RecID: "W"}, true), webhooks.RemoveSubscriber(events, wire.Subscriber{RecID: "W"}),
		webhooks.AddSubscription(events, nil, "W", wire.SubscriptionRequest{}, true), webhooks.ChangeSubscription(subscriptions, nil, one, wire.SubscriptionRequest{}, true),
		webhooks.RotateSecret(a, one), records.NewBill(a).Set(client.BillField{BillID: "B", StageID: "S", SettingID: "F"}, "x", nil),
	} {
		w.Run(cmd)
		w.Settle()
	}
}

// A session that is read-only sends nothing that could change anything, by
// whatever way it is asked to: keys, the menu, the palette, forms. The same walk
// through a session that is not sends every kind of change.
func TestReadOnlyLetsNothingThrough(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	for _, test := range []struct {
		name           string
		screens, under bool // what is read-only
	}{{"screens and client", true, true}, {"the screens alone", true, false}, {"the client alone", false, true}, {"nothing", false, false}} {
		t.Run(test.name, func(t *testing.T) {
			counter, changes := tuitest.RecordChanges(t, s.URL)
			c, err := client.New(client.Options{URL: counter, User: "admin", Password: daemontest.AdminPassword, ReadOnly: test.under})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			d := tuitest.Drive(t, c, tui.Options{ReadOnly: test.screens, Profile: "prod", Downloads: t.TempDir()})
			d.Clock = time.Now()
			w := &walk{d, make(map[string]bool)}
			w.everything()
			byKeys := kindsOf(changes())
			w.forms()
			all := kindsOf(changes())
			switch {
			case test.screens || test.under:
				if len(all) > 0 {
					t.Errorf("requests that change something were sent: %v", changes())
				}
			case len(byKeys) < 10 || len(all) < 12:
				t.Errorf("the walk misses kinds of changes; by keys %v; all %v", byKeys, all)
			}
		})
	}
}

// kindsOf are the methods and the ends of the paths of requests. To sign in
// changes nothing.
func kindsOf(requests []string) []string {
	var kinds []string
	for _, r := range requests {
		words := strings.Fields(r)
		if words[1] == "/auth" {
			continue
		}
		parts := strings.Split(words[1], "/")
		kind := fmt.Sprintf("%s %d %s", words[0], len(parts), parts[len(parts)-1])
		if len(parts[len(parts)-1]) > 30 {
			kind = fmt.Sprintf("%s %d", words[0], len(parts))
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
