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
	{"1"},
	{"2"},
	{":", "'SO_Totals", "enter"},
	{":", "'SO_Totals", "enter", "enter"},
	{"3"},
	{"3", "enter"},
	{"3", "enter", "i"},
	{"4"},
	{"4", "a"},
	{"4", "space", "space"},
	{"4", "enter"},
	{"1", "G", "enter"},
	{"5"},
	{"6"},
	{"6", "enter"},
}

// skippedKeys are not pressed, since they would only end the test.
var skippedKeys = []keymap.Action{keymap.Quit, keymap.Suspend, keymap.Redraw}

// open closes all screens and opens another one by its keys.
func (w *walker) open(keys []string) {
	w.T.Helper()
	w.Quit = false
	w.App.Home()
	w.Press(keys...)
	hasMarks := slices.Contains(keys, "a") || slices.Contains(keys, "space")
	if m, ok := w.App.Front().(*messages.List); ok && !hasMarks {
		m.Unmark() // marks of a previous visit
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
	webhooks.RateField:       "600",
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
	for _, screen := range screensWithActions {
		w.pressAllKeys(screen)
		w.Wait(10 * time.Second) // until delayed changes are sent
	}
	for _, target := range w.App.Targets() {
		w.enter(target)
	}
}

// pressAllKeys presses every key of a screen, and runs every row of its menu. Keys that have the
// same effect on all screens are pressed once.
func (w *walker) pressAllKeys(screen []string) {
	w.T.Helper()
	shared := []keymap.Scope{keymap.Everywhere, keymap.InLists, keymap.InGrids}
	w.open(screen)
	scopes := append(w.App.Front().Scopes(), keymap.Everywhere)
	for _, s := range scopes {
		for _, b := range keymap.Bindings.Within(scopes, s, func(keymap.Binding) bool { return true }) {
			isDone := slices.Contains(shared, s) && w.done[b.Keys]
			if isDone || slices.Contains(skippedKeys, b.Action) {
				continue
			}
			w.done[b.Keys] = true
			w.open(screen)
			w.Press(driverKey(b.KeyNames()[0]))
			w.confirm()
			w.open(screen)
			w.fromMenu(b)
		}
	}
}

// enter enters a command, or the name of another target.
func (w *walker) enter(target string) {
	w.T.Helper()
	if target == "quit" {
		return
	}
	if target == "bill" {
		target = "bill B/S/F"
	}
	w.open([]string{"3", "enter"})
	w.App.TypeCommand(target)
	w.Press("enter")
	w.confirm()
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
	if !w.App.MenuOpen() {
		return
	}
	isListed := w.App.SelectAction(func(row keymap.Binding) bool {
		return row.Scope == b.Scope && row.Keys == b.Keys
	})
	if isListed {
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
	subscriber := wire.Subscriber{RecID: "W"}
	subscription := wire.Subscription{RecID: "S", SubscriberID: "W"}
	for _, f := range []ui.Overlay{
		subscribers.NewForm(),
		subscribers.ChangeForm(subscriber),
		subscriptions.NewForm("debtor.updated"),
		webhooks.ChangeForm(subscriptions, subscriptions.Subscriber, subscription),
		events.NewForm("debtor.updated"),
	} {
		a.ShowOverlay(f)
		w.confirm()
	}
	message := wire.Message{MessageID: "M", SubscriptionID: "S", SubscriberID: "W"}
	allMessages := map[string][]string{"All": {"true"}}
	request := wire.SubscriptionRequest{}
	bill := client.BillField{BillID: "B", StageID: "S", SettingID: "F"}
	for _, cmd := range []tea.Cmd{
		list.Bulk.RetryOne(events, message, nil),
		messages.RemoveOne(events, message, nil),
		list.Bulk.ChangeMany(keymap.Retry, allMessages, 1, nil),
		list.Bulk.ChangeMany(keymap.Delete, allMessages, 1, nil),
		webhooks.TestSubscription(a, subscription),
		webhooks.EnableSubscription(subscriptions, subscription, true),
		webhooks.RemoveSubscription(events, subscription),
		webhooks.EnableSubscriber(events, subscriber, true),
		webhooks.RemoveSubscriber(events, subscriber),
		webhooks.AddSubscription(events, nil, "W", request, true),
		webhooks.ChangeSubscription(subscriptions, nil, subscription, request, true),
		webhooks.RotateSecret(a, subscription),
		records.NewBill(a).Set(bill, "x", nil),
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
		name            string
		readOnlySession bool
		readOnlyClient  bool
	}{
		{"screens and client", true, true},
		{"screens only", true, false},
		{"client only", false, true},
		{"neither", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			counter, changes := tuitest.RecordChanges(t, s.URL)
			c, err := client.New(client.Options{
				URL:      counter,
				User:     "admin",
				Password: daemontest.AdminPassword,
				ReadOnly: test.readOnlyClient,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			o := tui.Options{ReadOnly: test.readOnlySession, Profile: "prod", Downloads: t.TempDir()}
			d := tuitest.Drive(t, c, o)
			d.Clock = time.Now()

			w := &walker{Driver: d, done: make(map[string]bool)}
			w.pressEverything()
			byKeys := kindsOf(changes())
			w.forms()
			all := kindsOf(changes())
			if test.readOnlySession || test.readOnlyClient {
				if len(all) > 0 {
					t.Errorf("changes were sent: %v, want none", changes())
				}
				return
			}
			if len(byKeys) < 10 || len(all) < 12 {
				t.Errorf("kinds of changes: by keys %v, all %v; want at least 10 and 12", byKeys, all)
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
		last := parts[len(parts)-1]
		kind := fmt.Sprintf("%s %d %s", words[0], len(parts), last)
		if isID := len(last) > 30; isID {
			kind = fmt.Sprintf("%s %d", words[0], len(parts))
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
