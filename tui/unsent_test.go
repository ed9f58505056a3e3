package tui

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/ui"
)

// expiring is a driver whose session can be ended, and the way to do it.
func (s *deliveries) expiring(t *testing.T) (d *driver, end func()) {
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
	s.client = c
	other, err := client.New(client.Options{URL: s.URL, Session: session.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	return s.open(t, Options{}), func() {
		if err := other.Logout(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A retry that the service refused since the session had ended is made once
// somebody has signed in again, and not where nobody does.
func TestChangeRunsAfterSignIn(t *testing.T) {
	s := startDeliveries(t)
	d, end := s.expiring(t)
	d.press("4", "!", "r")
	d.sees("Retry this message?")
	end()
	d.press("y")
	d.sees("Sign in to", "AUTH", "your action (retry of", "runs after")
	d.press("esc")
	d.sees("not done: retry of")

	d.press("r", "y")
	d.sees("your action (retry of")
	d.press("'a wrong one", "enter")
	d.sees("Invalid Username or Password", "Sign in to", "your action (retry of")
	d.press("'"+daemontest.AdminPassword, "enter")
	if strings.Contains(d.text(), "Sign in to") {
		t.Fatalf("the question is still there:\n%s", d.text())
	}
	d.until("the retry is shown", func() bool { return strings.Contains(d.text(), "2/3") })
}

// A form that was sent without a session comes back with what was typed, until
// the change is made.
func TestFormRunsAfterSignIn(t *testing.T) {
	s := startDeliveries(t)
	d, end := s.expiring(t)
	d.press("3", "enter", "n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	end()
	d.press("ctrl+s")
	d.sees("your action (new subscription) runs after")
	d.press("esc")
	d.sees("New subscription for acme-shop", "salesorder.updated")
	d.press("ctrl+s", "'"+daemontest.AdminPassword, "enter")
	d.sees("Created", "whsec_")
	admin := connected(t, s.Instance)
	page, err := admin.AllSubscriptions(t.Context(), nil)
	if err != nil || page.Total != 4 {
		t.Errorf("there are %d subscriptions, %v", page.Total, err)
	}
}

// The failures are listed with the ids of their requests, and copied with them.
func TestErrorLog(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	d.resize(100, 24)
	for _, id := range []string{"r1", "r2"} {
		d.app.Fail("retry", &client.Error{Kind: client.Rejected, Message: "Conflict: a text that is long enough to take more than one line of the list of the errors", RequestID: id, Fields: []wire.FieldError{{FieldName: "MessageID", Message: "is gone"}}})
	}
	d.press("ctrl+e")
	d.sees("Errors (", "(request r2)", "(request r1)", "MessageID: is gone")
	d.press("j")
	d.copied.Reset()
	d.press("y")
	if text := d.lastCopied(); !strings.HasPrefix(text, "2026-07-01T14:02:06Z  retry: Conflict") || !strings.HasSuffix(text, "(request r1)") {
		t.Errorf("copied %q", text)
	}
	d.press("Y", "esc")
	if d.app.over != nil {
		t.Error("esc does not close it")
	}
}

// While a form is sent again after a sign-in, it cannot be sent once more.
func TestFormIsSentOnceAfterSignIn(t *testing.T) {
	s := startDeliveries(t)
	d, end := s.expiring(t)
	d.press("3", "enter", "n", "'salesorder.updated", "tab", "'http://127.0.0.1:9/x")
	end()
	d.press("ctrl+s", "'"+daemontest.AdminPassword)
	d.clock = d.clock.Add(ms(500))
	d.Take(keys["enter"])
	for !strings.Contains(d.text(), "now: new subscription") {
		m := <-d.answers
		d.waiting--
		d.Take(m)
	}
	if f, back := d.app.over.(*ui.Form); !back || !f.Sent {
		t.Error("the form is not on its way")
	}
	d.clock = d.clock.Add(ms(500))
	d.Take(keys["ctrl+s"])
	d.settle()
	page, err := connected(t, s.Instance).AllSubscriptions(t.Context(), nil)
	if err != nil || page.Total != 4 {
		t.Errorf("there are %d subscriptions, %v", page.Total, err)
	}
}

// Whoever signs in late closes nothing but the question for the password.
func TestSignInClosesItsFormOnly(t *testing.T) {
	s := startDeliveries(t)
	d := s.subscriptionsOf(t)
	d.press(":", "'login", "enter")
	login := d.app.over.(*ui.Form)
	d.press("esc", "n", "'debtor.created")
	typed := d.app.over
	d.send(ui.SentMsg{Form: login, Answer: signedInMsg{form: login, session: d.app.Session, user: "admin"}})
	if d.app.over != typed {
		t.Errorf("the form that is typed is gone:\n%s", d.text())
	}
	d.send(ui.SentMsg{Form: login, Answer: signedInMsg{form: login, session: d.app.Session, user: "admin", reply: reply{err: &client.Error{Kind: client.Unauthorized, Status: 401, Message: "Invalid Username or Password"}}}})
	if f := d.app.over.(*ui.Form); f.Fields[0].Wrong+f.Fields[1].Wrong != "" {
		t.Error("another form is blamed for a wrong password")
	}
	d.press("esc", ":", "'login", "enter")
	d.send(ui.SentMsg{Form: d.app.over.(*ui.Form), Answer: signedInMsg{form: d.app.over.(*ui.Form), session: d.app.Session, user: "admin"}})
	if d.app.over != nil {
		t.Error("the question for the password stays")
	}
}
