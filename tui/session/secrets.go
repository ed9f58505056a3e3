package session

import (
	"slices"

	"github.com/bizhook/whd/tui/ui"
)

// SecretsHost is the part of the app that the secrets use.
type SecretsHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	Overlay() ui.Overlay
	ShowOverlay(o ui.Overlay)
	Input() *ui.InputLine
}

// Secrets shows secrets one after the other.
type Secrets struct {
	host   SecretsHost
	queued []*ui.Secret // not closed yet; the first one is shown first
}

// NewSecrets returns an empty queue.
func NewSecrets(h SecretsHost) *Secrets { return &Secrets{host: h} }

// Add queues a secret, which is shown once no other overlay or input is open.
func (s *Secrets) Add(secret *ui.Secret) {
	if s.host.Overlay() != nil || s.host.Input() != nil {
		s.host.Notify(ui.Warning, "a secret will be shown when you close this")
	}
	s.queued = append(s.queued, secret)
}

// ShowNext shows the first secret if nothing else is open. It stays in front until it is
// closed.
func (s *Secrets) ShowNext() {
	if len(s.queued) == 0 {
		return
	}
	secret, front := s.queued[0], s.host.Overlay()
	if front == ui.Overlay(secret) {
		return
	}
	if !secret.ShownAt.IsZero() {
		secret.Below = front
		s.host.ShowOverlay(secret)
		return
	}
	if front == nil && s.host.Input() == nil {
		secret.ShownAt = s.host.CurrentSession().Now
		s.host.ShowOverlay(secret)
	}
}

// Closed forgets an overlay that was closed: a secret, or one that a secret covers.
func (s *Secrets) Closed(o ui.Overlay) {
	s.queued = slices.DeleteFunc(s.queued, func(secret *ui.Secret) bool { return ui.Overlay(secret) == o })
	for _, secret := range s.queued {
		if secret.Below == o {
			secret.Below = nil
		}
	}
}

// Unread returns the number of secrets that were not shown yet.
func (s *Secrets) Unread() int {
	unread := 0
	for _, secret := range s.queued {
		if secret.ShownAt.IsZero() {
			unread++
		}
	}
	return unread
}
