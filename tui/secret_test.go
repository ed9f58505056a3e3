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

// secretRenewed returns the response with a new secret.
func secretRenewed(d *tuitest.Driver, event, secret string) tea.Msg {
	subscription := wire.Subscription{EventName: event, URL: "http://x.test/"}
	return ui.Response{Apply: func() tea.Cmd {
		d.App.ShowSecret(webhooks.RotatedSecret(d.App, subscription, wire.RotatedSecret{Secret: secret}))
		return nil
	}}
}

// Several secrets are shown one after the other.
func TestSecretsAreQueued(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Send(secretRenewed(d, "one", "whsec_first"))
	d.Send(secretRenewed(d, "two", "whsec_second"))
	d.Send(secretRenewed(d, "three", "whsec_third"))
	for _, secret := range []string{"whsec_first", "whsec_second", "whsec_third"} {
		d.WantText(secret)
		d.Send(tuitest.Keys["esc"]) // within ConfirmPause
		d.WantText(secret)
		d.Copied.Reset()
		d.Press("y", "esc")
		if got := d.LastCopied(); got != secret {
			t.Errorf("copied %q, want %q", got, secret)
		}
	}
	if d.App.Overlay() != nil || d.App.Unread() != 0 {
		t.Errorf("an overlay is still open:\n%s", d.Text())
	}
}

// Only esc closes a secret.
func TestSecretClosesOnlyWithEsc(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Send(secretRenewed(d, "one", "whsec_first"))
	d.Press("q", "?", "f1", "enter", "x", "D", "/", "'q")
	d.WantText("whsec_first")
	d.Press("esc")
	if strings.Contains(d.Text(), "whsec_first") {
		t.Error("esc does not close the secret")
	}
}

// A secret does not cover a form, and is shown after the form is closed.
func TestSecretIsShownAfterForm(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Press("n", "'debtor.created", "tab", "'hooks.test/")
	typed := d.App.Overlay().(*ui.Form)
	d.Send(secretRenewed(d, "one", "whsec_first"))
	d.WantText("a secret will be shown")
	d.Send(secretRenewed(d, "two", "whsec_second"))
	created := wire.Subscription{EventName: "three", URL: "http://x.test/", Secret: "whsec_third"}
	d.Respond(d.App.Front(), nil, func(error) tea.Cmd {
		webhooks.ShowCreated(d.App, nil, created, nil)
		return nil
	})
	d.Press("'q")
	if d.App.Overlay() != ui.Overlay(typed) || !strings.HasSuffix(typed.Fields[1].Text(), "hooks.test/q") {
		t.Fatalf("after three secrets, the screen is\n%s\nwant the form with the typed URL", d.Text())
	}

	d.Press("ctrl+c")
	d.WantText("3 secrets not shown yet")
	if d.Quit {
		t.Error("quit with unread secrets")
	}
	d.Press("esc") // keeps the form, which has changes
	for _, secret := range []string{"whsec_first", "whsec_second", "whsec_third"} {
		d.Press("esc")
		d.WantText(secret)
	}
}

// Late responses neither cover a secret nor replace a form.
func TestLateResponsesOpenNoOverlay(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	field := client.BillField{BillID: "b", StageID: "s", SettingID: "x"}
	bills := records.NewBill(d.App)
	response := func(apply func()) tea.Msg {
		return ui.Response{Apply: func() tea.Cmd {
			apply()
			return nil
		}}
	}
	late := []tea.Msg{
		billValueResponse(d, field, &wire.CustomFieldValue{}),
		response(func() { bills.Listed(client.BillStage{BillID: "b"}, nil, nil, nil) }),
		response(func() { bills.Changed(field, &wire.CustomFieldValue{}, nil, nil) }),
		d.App.SignedInMsg(nil, d.App.Session, "admin", nil),
	}
	d.Press("n", "'debtor.created")
	typed := d.App.Overlay()
	for i, m := range late {
		d.Send(m)
		if d.App.Overlay() != typed {
			t.Fatalf("response %d replaces a form:\n%s", i+1, d.Text())
		}
	}

	d.Press("esc", "esc")
	d.Send(secretRenewed(d, "one", "whsec_first"))
	late = append(late, d.App.ProfilesMsg([]tui.Profile{{Name: "a"}, {Name: "b"}}))
	for i, m := range late {
		d.Send(m)
		if _, isSecret := d.App.Overlay().(*ui.Secret); !isSecret {
			t.Fatalf("response %d covers the secret:\n%s", i+1, d.Text())
		}
	}
}

// If the session has expired, the sign-in form opens below a secret, and the pending
// change is sent after the sign-in.
func TestSignInFormOpensBelowSecret(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.Send(secretRenewed(d, "one", "whsec_first"))
	isSent := false
	d.Send(d.App.PendingChangeMsg("a change", func() tea.Msg {
		isSent = true
		return nil
	}))
	d.WantText("whsec_first")
	d.Press("esc")
	d.WantText("Sign in to", "sent after sign-in: a change")

	login := d.App.Overlay().(*ui.Form)
	d.Send(ui.SentMsg{Form: login, Response: d.App.SignedInMsg(login, d.App.Session, "admin", nil)})
	if !isSent || d.App.Overlay() != nil {
		t.Errorf("after the sign-in: change sent %v, overlay %T; want true, none", isSent, d.App.Overlay())
	}
}
