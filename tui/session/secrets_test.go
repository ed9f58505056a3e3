package session

import (
	"testing"
	"time"

	"github.com/bizhook/whd/tui/ui"
)

// secretsHost is an app with nothing but an overlay.
type secretsHost struct {
	session ui.Session
	overlay ui.Overlay
	input   *ui.InputLine
	notices []string
}

func (h *secretsHost) CurrentSession() *ui.Session    { return &h.session }
func (h *secretsHost) Notify(_ ui.Level, text string) { h.notices = append(h.notices, text) }
func (h *secretsHost) Overlay() ui.Overlay            { return h.overlay }
func (h *secretsHost) ShowOverlay(o ui.Overlay)       { h.overlay = o }
func (h *secretsHost) Input() *ui.InputLine           { return h.input }

// A secret waits until nothing else is open, and stays in front until it is closed.
func TestSecretWaitsForOverlayAndInput(t *testing.T) {
	form := &ui.Form{}
	h := &secretsHost{overlay: form, input: &ui.InputLine{}}
	h.session.Now = time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	s := NewSecrets(h)
	secret := &ui.Secret{}

	s.Add(secret)
	s.ShowNext()
	if h.overlay != ui.Overlay(form) || len(h.notices) != 1 || s.Unread() != 1 {
		t.Errorf("a secret was added while a form is open: "+
			"got overlay %T, notices %q, %d unread; want the form, one notice, 1",
			h.overlay, h.notices, s.Unread())
	}

	h.overlay = nil
	s.ShowNext()
	if h.overlay != nil {
		t.Errorf("an input is open: got overlay %T, want none", h.overlay)
	}

	h.input = nil
	s.ShowNext()
	if h.overlay != ui.Overlay(secret) || s.Unread() != 0 || !secret.ShownAt.Equal(h.session.Now) {
		t.Errorf("nothing is open: got overlay %T, %d unread, shown at %v; want the secret, 0, %v",
			h.overlay, s.Unread(), secret.ShownAt, h.session.Now)
	}

	h.overlay = form
	s.ShowNext()
	if h.overlay != ui.Overlay(secret) || secret.Below != ui.Overlay(form) {
		t.Errorf("a form covered the secret: got overlay %T above %T, want the secret above the form",
			h.overlay, secret.Below)
	}

	s.Closed(form)
	if secret.Below != nil {
		t.Errorf("the form was closed: the secret still covers %T", secret.Below)
	}

	h.overlay = nil
	s.Closed(secret)
	s.ShowNext()
	if h.overlay != nil {
		t.Errorf("the secret was closed: got overlay %T, want none", h.overlay)
	}
}
