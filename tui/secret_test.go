package tui_test

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// renewed is the answer that brings a new secret.
func renewed(d *tuitest.Driver, event, secret string) tea.Msg {
	return ui.Response{Apply: func() tea.Cmd {
		d.App.ShowSecret(webhooks.RotatedSecret(d.App, wire.Subscription{EventName: event, URL: "http://x.test/"}, wire.RotatedSecret{Secret: secret}))
		return nil
	}}
}

// Secrets that come one after the other are read one after the other.
func TestSecretsWait(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Send(renewed(d, "one", "whsec_first"))
	d.Send(renewed(d, "two", "whsec_second"))
	d.Send(renewed(d, "three", "whsec_third"))
	for _, secret := range []string{"whsec_first", "whsec_second", "whsec_third"} {
		d.WantText(secret)
		d.Send(tuitest.Keys["esc"]) // of whoever has not seen it yet
		d.WantText(secret)
		d.Copied.Reset()
		d.Press("y", "esc")
		if got := d.LastCopied(); got != secret {
			t.Errorf("copied %q, want %q", got, secret)
		}
	}
	if d.App.Overlay() != nil || d.App.Unread() != 0 {
		t.Errorf("something is open still:\n%s", d.Text())
	}
}

// A secret is closed by esc alone.
func TestSecretStays(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Send(renewed(d, "one", "whsec_first"))
	d.Press("q", "?", "f1", "enter", "x", "D", "/", "'q")
	d.WantText("whsec_first")
	d.Press("esc")
	if strings.Contains(d.Text(), "whsec_first") {
		t.Error("esc does not close it")
	}
}

// What is typed is not covered by a secret, which is shown once that is closed.
func TestSecretWaitsForForm(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Press("n", "'debtor.created", "tab", "'hooks.test/")
	typed := d.App.Overlay().(*ui.Form)
	d.Send(renewed(d, "one", "whsec_first"))
	d.WantText("there is a secret to be read")
	d.Send(renewed(d, "two", "whsec_second"))
	d.Respond(d.App.Front(), nil, func(error) tea.Cmd {
		webhooks.ShowCreated(d.App, nil, wire.Subscription{EventName: "three", URL: "http://x.test/", Secret: "whsec_third"}, nil)
		return nil
	})
	d.Press("'q")
	if d.App.Overlay() != ui.Overlay(typed) || !strings.HasSuffix(typed.Fields[1].Text(), "hooks.test/q") {
		t.Fatalf("the form is gone:\n%s", d.Text())
	}
	d.Press("ctrl+c")
	d.WantText("3 secrets are not read yet")
	if d.Quit {
		t.Error("it ends with secrets that nobody has read")
	}
	for _, secret := range []string{"whsec_first", "whsec_second", "whsec_third"} {
		d.Press("esc")
		d.WantText(secret)
	}
}

// Late answers cover no secret, and take the place of no form.
func TestLateAnswersOpenNothing(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	field := client.BillField{BillID: "b", StageID: "s", SettingID: "x"}
	bills := records.NewBill(d.App)
	answer := func(take func()) tea.Msg {
		return ui.Response{Apply: func() tea.Cmd {
			take()
			return nil
		}}
	}
	late := []tea.Msg{
		billValue(d, field, &wire.CustomFieldValue{}),
		answer(func() { bills.Listed(client.BillStage{BillID: "b"}, nil, nil, nil) }),
		answer(func() { bills.Changed(field, &wire.CustomFieldValue{}, nil, nil) }),
		tui.SignedInMsg(nil, d.App.Session, "admin", nil),
	}
	d.Press("n", "'debtor.created")
	typed := d.App.Overlay()
	for _, m := range late {
		if d.Send(m); d.App.Overlay() != typed {
			t.Fatalf("%T takes the place of a form:\n%s", m, d.Text())
		}
	}
	d.Press("esc")
	d.Send(renewed(d, "one", "whsec_first"))
	for _, m := range append(late, tui.ProfilesMsg(d.App.Session, []tui.Profile{{Name: "a"}, {Name: "b"}})) {
		d.Send(m)
		if _, told := d.App.Overlay().(*ui.Secret); !told {
			t.Fatalf("%T covers the secret:\n%s", m, d.Text())
		}
	}
}

// Where the session has ended, the password is asked for below a secret, and what
// is held is made once it was typed.
func TestPasswordIsAskedBelowSecret(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Send(renewed(d, "one", "whsec_first"))
	done := false
	d.Send(tui.HeldMsg(d.App.Session, "a change", func() tea.Msg { done = true; return nil }))
	d.WantText("whsec_first")
	d.Press("esc")
	d.WantText("Sign in to", "your action (a change) runs after")
	d.Send(ui.SentMsg{Form: d.App.Overlay().(*ui.Form), Response: tui.SignedInMsg(d.App.Overlay().(*ui.Form), d.App.Session, "admin", nil)})
	if !done || d.App.Overlay() != nil {
		t.Errorf("made: %v; open is %T", done, d.App.Overlay())
	}
}
