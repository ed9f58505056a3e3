package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// renewed is the answer that brings a new secret.
func (d *driver) renewed(event, secret string) tea.Msg {
	return ui.Answer{Take: func() tea.Cmd {
		d.app.ShowSecret(webhooks.RotatedSecret(d.app, wire.Subscription{EventName: event, URL: "http://x.test/"}, wire.RotatedSecret{Secret: secret}))
		return nil
	}}
}

// Secrets that come one after the other are read one after the other.
func TestSecretsWait(t *testing.T) {
	s := startDeliveries(t)
	d := s.subscriptionsOf(t)
	d.send(d.renewed("one", "whsec_first"))
	d.send(d.renewed("two", "whsec_second"))
	d.send(d.renewed("three", "whsec_third"))
	for _, secret := range []string{"whsec_first", "whsec_second", "whsec_third"} {
		d.sees(secret)
		d.send(keys["esc"]) // of whoever has not seen it yet
		d.sees(secret)
		d.copied.Reset()
		d.press("y", "esc")
		if got := d.lastCopied(); got != secret {
			t.Errorf("copied %q, want %q", got, secret)
		}
	}
	if d.app.over != nil || d.app.unread() != 0 {
		t.Errorf("something is open still:\n%s", d.text())
	}
}

// A secret is closed by esc alone.
func TestSecretStays(t *testing.T) {
	s := startDeliveries(t)
	d := s.subscriptionsOf(t)
	d.send(d.renewed("one", "whsec_first"))
	d.press("q", "?", "f1", "enter", "x", "D", "/", "'q")
	d.sees("whsec_first")
	d.press("esc")
	if strings.Contains(d.text(), "whsec_first") {
		t.Error("esc does not close it")
	}
}

// What is typed is not covered by a secret, which is shown once that is closed.
func TestSecretWaitsForForm(t *testing.T) {
	s := startDeliveries(t)
	d := s.subscriptionsOf(t)
	d.press("n", "'debtor.created", "tab", "'hooks.test/")
	typed := d.app.over.(*ui.Form)
	d.send(d.renewed("one", "whsec_first"))
	d.sees("there is a secret to be read")
	d.send(d.renewed("two", "whsec_second"))
	d.answersTo(d.app.Front(), nil, func(error) tea.Cmd {
		webhooks.ShowCreated(d.app, nil, wire.Subscription{EventName: "three", URL: "http://x.test/", Secret: "whsec_third"}, nil)
		return nil
	})
	d.press("'q")
	if d.app.over != ui.Overlay(typed) || !strings.HasSuffix(typed.Fields[1].Text(), "hooks.test/q") {
		t.Fatalf("the form is gone:\n%s", d.text())
	}
	d.press("ctrl+c")
	d.sees("3 secrets are not read yet")
	if d.quit {
		t.Error("it ends with secrets that nobody has read")
	}
	for _, secret := range []string{"whsec_first", "whsec_second", "whsec_third"} {
		d.press("esc")
		d.sees(secret)
	}
}

// Late answers cover no secret, and take the place of no form.
func TestLateAnswersOpenNothing(t *testing.T) {
	s := startDeliveries(t)
	d := s.subscriptionsOf(t)
	field := client.BillField{BillID: "b", StageID: "s", SettingID: "x"}
	bills := records.NewBill(d.app)
	answer := func(take func()) tea.Msg {
		return ui.Answer{Take: func() tea.Cmd {
			take()
			return nil
		}}
	}
	late := []tea.Msg{
		d.billValue(field, &wire.CustomFieldValue{}),
		answer(func() { bills.Listed(client.BillStage{BillID: "b"}, nil, nil, nil) }),
		answer(func() { bills.Changed(field, &wire.CustomFieldValue{}, nil, nil) }),
		signedInMsg{session: d.app.Session, user: "admin"},
	}
	d.press("n", "'debtor.created")
	typed := d.app.over
	for _, m := range late {
		if d.send(m); d.app.over != typed {
			t.Fatalf("%T takes the place of a form:\n%s", m, d.text())
		}
	}
	d.press("esc")
	d.send(d.renewed("one", "whsec_first"))
	for _, m := range append(late, profilesMsg{ask: true, session: d.app.Session, list: []Profile{{Name: "a"}, {Name: "b"}}}) {
		d.send(m)
		if _, told := d.app.over.(*ui.Secret); !told {
			t.Fatalf("%T covers the secret:\n%s", m, d.text())
		}
	}
}

// Where the session has ended, the password is asked for below a secret, and what
// is held is made once it was typed.
func TestPasswordIsAskedBelowSecret(t *testing.T) {
	s := startDeliveries(t)
	d := s.subscriptionsOf(t)
	d.send(d.renewed("one", "whsec_first"))
	done := false
	d.send(heldMsg{unsent: unsent{what: "a change", again: func() tea.Msg { done = true; return nil }}, session: d.app.Session})
	d.sees("whsec_first")
	d.press("esc")
	d.sees("Sign in to", "your action (a change) runs after")
	d.send(ui.SentMsg{Form: d.app.over.(*ui.Form), Answer: signedInMsg{form: d.app.over.(*ui.Form), session: d.app.Session, user: "admin"}})
	if !done || d.app.over != nil {
		t.Errorf("made: %v; open is %T", done, d.app.over)
	}
}
