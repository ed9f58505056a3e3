package tui_test

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Screens that need no service, or show that it is unreachable.
func TestUnreachableServiceGoldens(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := tuitest.Drive(t, tuitest.Connect(t, i), o)
		d.AwaitLive()

		// The service is unreachable.
		d.Press(":", "'IN_Colours", "enter")
		d.Live(tui.LiveMsg{Lost: unreachable, Retry: 4 * time.Second})
		d.Send(d.App.AccountMsg(d.App.Session, unreachable))
		d.Golden("S13-offline", appearance)
		d.Press("R")
		d.AwaitLive()

		// The session has expired.
		d.Send(d.App.AccountMsg(d.App.Session, notSignedIn))
		d.Press("'secret")
		d.WantNoText("secret")
		d.Golden("S14-login", appearance)
		d.App.SetPendingChange("retry of salesorder.created")
		d.Golden("S14-login-pending-change", appearance)

		// Errors are listed.
		d.Press("esc")
		d.App.ShowError("retry of salesorder.created", conflict)
		d.App.ShowError("fetching messages", &client.Error{Kind: client.TimedOut, Message: "no response within 30s"})
		d.Press("ctrl+e")
		d.Golden("S00-errors", appearance)

		// A field of a bill is changed.
		d.Press("esc", "esc")
		field := client.BillField{BillID: "45A7XTVR", StageID: "A56V5IQ5", SettingID: "ac11c1bf"}
		value := &wire.CustomFieldValue{SettingName: new("Colour"), Contents: new("Red")}
		d.Send(billValueResponse(d, field, value))
		d.Press("'dish")
		d.Golden("S00-bill", appearance)
		d.Press("ctrl+s")
		d.Golden("S00-bill-confirmation", appearance)

		// The terminal is too small.
		d.Press("esc", "esc")
		d.GoldenIn([][2]int{{52, 12}, {59, 40}, {200, 14}, {20, 5}}, "S15-small", appearance)
		d.Resize(1, 1)
		d.CheckScreen()
	})
}

// Errors that the goldens show.
var (
	unreachable = &client.Error{
		Kind:    client.Unreachable,
		Message: "cannot reach http://erp01:5050: connection refused",
	}
	notSignedIn = &client.Error{
		Kind:    client.Unauthorized,
		Status:  http.StatusUnauthorized,
		Code:    "Unauthorized",
		Message: "not signed in",
	}
	conflict = &client.Error{
		Kind:      client.Rejected,
		Status:    http.StatusConflict,
		Message:   "Conflict: the message is being sent at this moment",
		RequestID: "7cc5e9c8cae49bb1",
	}
)

var presses = flag.Int("presses", 3000, "how many random keys are pressed")

// randomKeys are the keys that are pressed at random; a key can be listed twice to be pressed
// more often.
var randomKeys = strings.Fields(`
	enter esc tab up down left right pgdown home end space ctrl+d ctrl+s backspace
	r D T o n a v u j k G g x ? : / ! s = C F 1 2 3 4 5 6 - t p c z < > [ ] Y y
	e J S U M E W i m w b q @ x ctrl+e 0 $ P f1`)

// pastes are texts that contain key bindings.
var pastes = []string{"DyDyTyry", "Dear colleague\n:rw\nD\ny\n", ":ro\n", "4/a\nDy\n", "3D\ny", "WyEyny"}

// Random keys and pastes send no change unless a confirmation is accepted with y after
// ConfirmPause.
func TestRandomKeysSendNoChanges(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	counter, changes := tuitest.RecordChanges(t, s.URL)
	c, err := client.New(client.Options{URL: counter, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{Downloads: t.TempDir()})
	d.Clock = time.Now()
	random := rand.New(rand.NewPCG(8, 15))
	questions := 0
	for range *presses {
		name := randomKeys[random.IntN(len(randomKeys))]
		switch d.App.Overlay().(type) {
		case *ui.Confirm:
			questions++
			if name == "y" {
				continue // it would accept the confirmation
			}
		case *ui.Form:
			name = "esc" // other keys could submit the form
		}
		if random.IntN(20) == 0 {
			d.Paste(pastes[random.IntN(len(pastes))])
			continue
		}
		d.Press(name)
		d.Quit = false
		if random.IntN(50) == 0 {
			d.CheckScreen()
		}
	}
	if list := changes(); len(list) > 0 {
		t.Errorf("changes were sent: %v", list)
	}
	t.Logf("%d keys, %d of them before a confirmation", *presses, questions)
	if questions == 0 {
		t.Error("no confirmation was opened")
	}
}

// billValueResponse is the response with the value of a custom field of a bill.
func billValueResponse(d *tuitest.Driver, field client.BillField, value *wire.CustomFieldValue) tea.Msg {
	return ui.Response{Apply: func() tea.Cmd {
		records.NewBill(d.App).Fetched(field, value, nil, nil)
		return nil
	}}
}
