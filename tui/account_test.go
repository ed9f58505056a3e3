package tui_test

import (
	"net/http"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// wesPassword is the password of the second user.
const wesPassword = "a long enough passphrase 7"

// addUser creates a second user, wes.
func addUser(t *testing.T, s *tuitest.Deliveries, role string) {
	t.Helper()
	password := wesPassword
	_, err := s.Client.AddUser(t.Context(), wire.UserRequest{UserName: "wes", Role: &role, Password: &password})
	if err != nil {
		t.Fatal(err)
	}
}

// endSessions ends all sessions of wes.
func endSessions(t *testing.T, s *tuitest.Deliveries) {
	t.Helper()
	password := wesPassword + " and new"
	_, err := tuitest.Connect(t, s.Instance).UpdateUser(t.Context(), "wes", wire.UserRequest{Password: &password})
	if err != nil {
		t.Fatal(err)
	}
}

// signIn signs in with the command login.
func signIn(d *tuitest.Driver, user, password string) {
	d.T.Helper()
	d.Press(":", "'login", "enter")
	fillSignIn(d, user, password)
}

// fillSignIn submits the open sign-in form.
func fillSignIn(d *tuitest.Driver, user, password string) {
	d.T.Helper()
	f := d.App.Overlay().(*ui.Form)
	f.Fields[0].Input.SetValue(user)
	f.At = 1
	d.Press("'"+password, "enter")
}

// userOf returns the user of the requests that the screens send.
func userOf(t *testing.T, d *tuitest.Driver) string {
	t.Helper()
	session, err := d.App.Session.Client.CurrentSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return session.UserName
}

// Once the session of a sign-in has expired, the sign-in form opens. The
// account of the start is not used, although its password is known.
func TestExpiredSessionDoesNotBecomeStartAccount(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	addUser(t, s, "admin")
	d := s.Open(t, tui.Options{})
	signIn(d, "wes", wesPassword)
	if user := userOf(t, d); user != "wes" {
		t.Fatalf("after the sign-in the user is %s, want wes", user)
	}
	endSessions(t, s)
	d.Press("R")
	d.WantText("Sign in to", "SIGN IN", "wes")
	if d.App.User() != "wes" {
		t.Errorf("after the end of the session, the user is %s, want wes", d.App.User())
	}
}

// The user of a sign-in remains the same when changes are forbidden and allowed again.
func TestAllowingChangesKeepsUser(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	addUser(t, s, "admin")
	unlock := func() (*client.Client, error) { return tuitest.Connect(t, s.Instance), nil }
	d := s.Open(t, tui.Options{ReadOnly: true, Unlock: unlock})
	signIn(d, "wes", wesPassword)
	d.WantText(" RO ")
	for range 2 {
		d.Press(":", "'rw", "enter")
		d.WantText(" RW ", "wes")
		if user := userOf(t, d); user != "wes" {
			t.Fatalf("after :rw the user of the requests is %s, want wes", user)
		}
		d.Press(":", "'ro", "enter")
	}
}

// The screens, the previous location and the live stream of a user end when another one signs
// in.
func TestNextUserSeesNothingOfPreviousOne(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	addUser(t, s, "reader")
	d := s.Open(t, tui.Options{})
	d.Press("4", "enter", "tab")
	previous := d.App.Session
	detail := d.App.Front()
	id := detail.(*messages.Detail).Content.Message.MessageID
	d.Press("1")
	signIn(d, "wes", wesPassword)
	d.WantText("wes (reader)", " Records ")
	if d.App.Session == previous || previous.Context.Err() == nil {
		t.Error("the session of the previous user is still in use")
	}
	if d.App.IsOpen(detail) {
		t.Error("a screen of the previous user is still open")
	}
	d.Press("-", "-")
	for _, text := range []string{ui.ShortID(id), ui.ShortID(s.Subscriber), "Attempts"} {
		d.WantNoText(text)
	}
	d.Live(tui.LiveMsg{Beat: true, Changes: []wire.MessageChange{{MessageID: id}}}) // of the previous stream
	if d.App.IsLive(d.Clock) {
		t.Error("the stream of the previous user is still in use")
	}
}

// The stream is connected for the next user, if that may listen.
func TestNextUserListens(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	addUser(t, s, "admin")
	d := s.Open(t, tui.Options{})
	signIn(d, "wes", wesPassword)
	d.AwaitLive()
	d.WantText("wes", " Home ")
}

// A delete that can still be undone is not sent by the next user.
func TestNextUserDoesNotSendDelayedDelete(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	addUser(t, s, "admin")
	d := s.Open(t, tui.Options{})
	d.Press("4", "D", "y")
	d.WantText("U undo")
	signIn(d, "wes", wesPassword)
	d.WantText("not sent, as admin requested it: delete of")
	d.Advance(2 * ui.UndoDelay)
	if n := s.MessageCount(t); n != 8 {
		t.Errorf("there are %d messages, want all 8", n)
	}
}

// A change that waits for a sign-in is repeated only for the user that requested it.
func TestNextUserDoesNotRepeatChange(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	addUser(t, s, "admin")
	d, end := driveExpiring(t, s)
	d.Press("3", "enter", "n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	end()
	d.Press("ctrl+s")
	d.WantText("sent after sign-in: new subscription")
	fillSignIn(d, "wes", wesPassword)
	d.WantText("not sent, as admin requested it: new subscription")
	if d.App.Overlay() != nil {
		t.Errorf("a %T of the previous user is open", d.App.Overlay())
	}
	wantSubscriptions(t, s, 3)
}

// A response to a request from before the sign-in does not open the form again, and a change is
// repeated at once.
func TestLateRejectionDoesNotReopenSignIn(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d, end := driveExpiring(t, s)
	before := d.App.Session.Client
	d.Press("4", "!", "r")
	change := d.App.Overlay().(*ui.Confirm).Run()
	d.App.ShowOverlay(nil)
	end()
	rejected := change()
	signIn(d, "admin", daemontest.AdminPassword)
	expired := &client.Error{Kind: client.Unauthorized, Status: http.StatusUnauthorized, Message: "not signed in"}
	d.Send(ui.Response{Err: expired, Client: before, Apply: func() tea.Cmd { return nil }})
	d.Live(tui.LiveMsg{Final: expired})
	if d.App.Overlay() != nil || strings.Contains(d.Text(), "SIGN IN") {
		t.Errorf("a late response has ended the new session:\n%s", d.Text())
	}
	d.Send(rejected)
	d.WantText("the message is due now")
	if d.App.Overlay() != nil {
		t.Errorf("after the late rejection of a change, a %T is open", d.App.Overlay())
	}
}

// A wrong password for another user does not end the session.
func TestRejectedSignInKeepsSession(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	signIn(d, "wes", "a wrong one")
	d.WantText("Invalid Username or Password")
	d.Press("esc")
	d.WantNoText("SIGN IN")
	if user := userOf(t, d); user != "admin" {
		t.Errorf("the user is %s, want admin", user)
	}
}
