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

// walker runs every action and accepts every confirmation.
type walker struct {
	*tuitest.Driver
	done map[string]bool // keys with the same meaning on several screens
}

// screensWithActions are the keys that open the screens with actions on deliveries.
var screensWithActions = [][]string{
	{"1"}, {"2"}, {":", "'SO_Totals", "enter"}, {":", "'SO_Totals", "enter", "enter"}, {"3"}, {"3", "enter"}, {"3", "enter", "i"}, {"4"}, {"4", "a"}, {"4", "space", "space"},
	{"4", "enter"}, {"1", "G", "enter"}, {"5"}, {"6"}, {"6", "enter"},
}

// skippedKeys are not pressed, since they would only end the test.
var skippedKeys = []keymap.Action{keymap.Quit, keymap.Suspend, keymap.Redraw}

// open closes all screens and opens another one by its keys.
func (w *walker) open(keys []string) {
	w.T.Helper()
	w.Quit = false
	w.App.Home()
	w.Press(keys...)
	if m, ok := w.App.Front().(*messages.List); ok && !slices.Contains(keys, "a") && !slices.Contains(keys, "space") {
		m.Unmark()
	}
}

// confirm accepts a confirmation.
func (w *walker) confirm() {
	w.T.Helper()
	for range 6 {
		w.Clock = w.Clock.Add(time.Second)
		switch overlay := w.App.Overlay().(type) {
		case *ui.Confirm:
			w.Press("y")
		case *ui.TypedConfirm:
			w.Press("'"+overlay.Word, "enter")
		case *ui.Form:
			w.fill(overlay)
			w.Press("ctrl+s")
		case nil:
			return
		default:
			w.Press("enter", "y")
		}
	}
}

// validValues are the values of the fields that do not accept any text, by name.
var validValues = map[string]string{
	"URL":                    "http://127.0.0.1:9/x",
	"EventName":              "debtor.updated",
	webhooks.SubscriberField: "acme-shop",
	webhooks.ScheduleField:   "5s",
	webhooks.WhereField:      `{"Total":1}`,
	browse.ExportPath:        "/nowhere/x",
}

// fill sets every field of a form.
func (w *walker) fill(f *ui.Form) {
	for _, field := range f.Fields {
		if field.Options == nil && !field.Stored && field.Name != webhooks.HeadersField {
			field.Input.SetValue(validValues[field.Name])
		}
		if field.Input.Value() == "" && !field.Masked && field.Name != webhooks.HeadersField {
			field.Input.SetValue("filled")
		}
	}
}

// pressEverything presses every key, runs every row of the menu on every screen, and
// every command.
func (w *walker) pressEverything() {
	w.T.Helper()
	shared := []keymap.Scope{keymap.Everywhere, keymap.InLists, keymap.InGrids}
	for _, place := range screensWithActions {
		w.open(place)
		scopes := append(w.App.Front().Scopes(), keymap.Everywhere)
		for _, s := range scopes {
			for _, b := range keymap.Bindings.Within(scopes, s, func(keymap.Binding) bool { return true }) {
				if slices.Contains(skippedKeys, b.Action) || slices.Contains(shared, s) && w.done[b.Keys] {
					continue
				}
				w.done[b.Keys] = true
				w.open(place)
				w.Press(driverKey(b.KeyNames()[0]))
				w.confirm()
				w.open(place)
				w.fromMenu(b)
			}
		}
		w.Wait(10 * time.Second) // until delayed changes are sent
	}
	for _, target := range w.App.Targets() {
		if target == "quit" {
			continue
		}
		argument := ""
		if target == "bill" {
			argument = " B/S/F"
		}
		w.open([]string{"3", "enter"})
		w.App.TypeCommand(target + argument)
		w.Press("enter")
		w.confirm()
	}
}

// driverKey returns the name of a key for the driver.
func driverKey(key string) string {
	if key == " " {
		return "space"
	}
	return key
}

// fromMenu runs a binding from the menu of actions.
func (w *walker) fromMenu(b keymap.Binding) {
	w.T.Helper()
	w.Press("x")
	if w.App.MenuOpen() && w.App.SelectAction(func(row keymap.Binding) bool { return row.Scope == b.Scope && row.Keys == b.Keys }) {
		w.Press("enter")
		w.confirm()
	}
}

// forms submits forms and commands directly, which a read-only session does not open.
func (w *walker) forms() {
	w.T.Helper()
	a := w.App
	w.open([]string{"3"})
	subscribers := a.Front().(*webhooks.Subscribers)
	w.Press("enter")
	subscriptions := a.Front().(*webhooks.Subscriptions)
	w.open([]string{"5"})
	events := a.Front().(*webhooks.Events)
	w.open([]string{"4"})
	list := a.Front().(*messages.List)
	for _, f := range []ui.Overlay{
		subscribers.NewForm(), subscribers.ChangeForm(wire.Subscriber{RecID: "W"}),
		subscriptions.NewForm("debtor.updated"), webhooks.ChangeForm(subscriptions, subscriptions.Subscriber, wire.Subscription{RecID: "S", SubscriberID: "W"}), events.NewForm("debtor.updated"),
	} {
		a.ShowOverlay(f)
		w.confirm()
	}
	subscription := wire.Subscription{RecID: "S", SubscriberID: "W"}
	message := wire.Message{MessageID: "M", SubscriptionID: "S", SubscriberID: "W"}
	for _, cmd := range []tea.Cmd{
		messages.RetryOne(events, list.Bulk, message, nil), messages.RemoveOne(events, message, nil), list.Bulk.ChangeMany(keymap.Retry, map[string][]string{"All": {"true"}}, 1, nil), list.Bulk.ChangeMany(keymap.Delete, map[string][]string{"All": {"true"}}, 1, nil),
		webhooks.TestSubscription(a, subscription), webhooks.EnableSubscription(subscriptions, subscription, true), webhooks.RemoveSubscription(events, subscription),
		webhooks.EnableSubscriber(events, wire.Subscriber{RecID: "W"}, true), webhooks.RemoveSubscriber(events, wire.Subscriber{RecID: "W"}),
		webhooks.AddSubscription(events, nil, "W", wire.SubscriptionRequest{}, true), webhooks.ChangeSubscription(subscriptions, nil, subscription, wire.SubscriptionRequest{}, true),
		webhooks.RotateSecret(a, subscription), records.NewBill(a).Set(client.BillField{BillID: "B", StageID: "S", SettingID: "F"}, "x", nil),
	} {
		w.Run(cmd)
		w.Settle()
	}
}

// A read-only session sends no change by any means: keys, menu, commands, forms. The
// same actions in another session send every kind of change.
func TestReadOnlySessionSendsNoChanges(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	for _, test := range []struct {
		name           string
		screens, under bool // session, client are read-only
	}{{"screens and client", true, true}, {"screens only", true, false}, {"client only", false, true}, {"neither", false, false}} {
		t.Run(test.name, func(t *testing.T) {
			counter, changes := tuitest.RecordChanges(t, s.URL)
			c, err := client.New(client.Options{URL: counter, User: "admin", Password: daemontest.AdminPassword, ReadOnly: test.under})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			d := tuitest.Drive(t, c, tui.Options{ReadOnly: test.screens, Profile: "prod", Downloads: t.TempDir()})
			d.Clock = time.Now()
			w := &walker{d, make(map[string]bool)}
			w.pressEverything()
			byKeys := kindsOf(changes())
			w.forms()
			all := kindsOf(changes())
			if test.screens || test.under {
				if len(all) > 0 {
					t.Errorf("changes were sent: %v", changes())
				}
			} else if len(byKeys) < 10 || len(all) < 12 {
				t.Errorf("some kinds of changes were not sent; by keys %v; all %v", byKeys, all)
			}
		})
	}
}

// kindsOf returns methods and path ends of requests. Sign-ins are not changes.
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
