package tui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// driveExpiring returns a driver and a function that ends its session.
func driveExpiring(t *testing.T, s *tuitest.Deliveries) (d *tuitest.Driver, end func()) {
	t.Helper()
	c, err := client.New(client.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	session, err := c.Login(t.Context(), "admin", daemontest.AdminPassword)
	if err != nil {
		t.Fatal(err)
	}
	s.Client = c
	sameSession, err := client.New(client.Options{URL: s.URL, Session: session.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sameSession.Close)
	return s.Open(t, tui.Options{}), func() {
		if err := sameSession.Logout(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// wantSubscriptions fails unless there are as many subscriptions.
func wantSubscriptions(t *testing.T, s *tuitest.Deliveries, want int64) {
	t.Helper()
	page, err := tuitest.Connect(t, s.Instance).AllSubscriptions(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if page.Total != want {
		t.Errorf("there are %d subscriptions, want %d", page.Total, want)
	}
}

// answerSignIn delivers the response to a sign-in form.
func answerSignIn(d *tuitest.Driver, login *ui.Form, err error) {
	d.T.Helper()
	d.Send(ui.SentMsg{Form: login, Response: d.App.SignedInMsg(login, d.App.Session, "admin", err)})
}

// A retry that was rejected because the session had expired is sent after a sign-in,
// and dropped if the sign-in is cancelled.
func TestChangeIsRepeatedAfterSignIn(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d, end := driveExpiring(t, s)
	d.Press("4", "!", "r")
	d.WantText("Retry this message?")
	end()
	d.Press("y")
	d.WantText("Sign in to", "SIGN IN", "sent after sign-in: retry of")
	d.Press("esc")
	d.WantText("not sent: retry of")

	d.Press("r", "y")
	d.WantText("sent after sign-in: retry of")
	d.Press("'a wrong one", "enter")
	d.WantText("Invalid Username or Password", "Sign in to", "sent after sign-in: retry of")
	d.Press("'"+daemontest.AdminPassword, "enter")
	if strings.Contains(d.Text(), "Sign in to") {
		t.Fatalf("the sign-in form is still open:\n%s", d.Text())
	}
	d.WaitUntil("the retry is shown", func() bool { return strings.Contains(d.Text(), "2/3") })
}

// A form that was submitted without a session is shown again with its values until it
// is sent.
func TestFormIsRepeatedAfterSignIn(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d, end := driveExpiring(t, s)
	d.Press("3", "enter", "n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	end()
	d.Press("ctrl+s")
	d.WantText("sent after sign-in: new subscription")
	d.Press("esc")
	d.WantText("New subscription for acme-shop", "salesorder.updated")
	d.Press("ctrl+s", "'"+daemontest.AdminPassword, "enter")
	d.WantText("Created", "whsec_")
	wantSubscriptions(t, s, 4)
}

// A form that is submitted again after a sign-in cannot be submitted twice.
func TestFormCannotBeSubmittedTwice(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d, end := driveExpiring(t, s)
	d.Press("3", "enter", "n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	end()
	d.Press("ctrl+s", "'"+daemontest.AdminPassword)
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Deliver(tuitest.Keys["enter"])
	for !strings.Contains(d.Text(), "repeating: new subscription") {
		d.DeliverNext()
	}
	if f, ok := d.App.Overlay().(*ui.Form); !ok || !f.Sent {
		t.Errorf("during the repetition, the overlay is a %T, want the form, submitted", d.App.Overlay())
	}
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Deliver(tuitest.Keys["ctrl+s"])
	d.Settle()
	wantSubscriptions(t, s, 4)
}

// A late sign-in closes only the sign-in form.
func TestSignInClosesOnlyItsForm(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Press(":", "'login", "enter")
	login := d.App.Overlay().(*ui.Form)
	d.Press("esc", "n", "'debtor.created")
	typed := d.App.Overlay().(*ui.Form)

	answerSignIn(d, login, nil)
	if d.App.Overlay() != ui.Overlay(typed) {
		t.Errorf("a late sign-in has closed another form:\n%s", d.Text())
	}
	rejected := &client.Error{Kind: client.Unauthorized, Status: 401, Message: "Invalid Username or Password"}
	answerSignIn(d, login, rejected)
	if text := typed.Fields[0].Error + typed.Fields[1].Error; text != "" {
		t.Errorf("a late rejection is shown in another form: %q", text)
	}

	d.Press("esc", ":", "'login", "enter")
	answerSignIn(d, d.App.Overlay().(*ui.Form), nil)
	if d.App.Overlay() != nil {
		t.Errorf("after the sign-in, a %T is open, want none", d.App.Overlay())
	}
}
