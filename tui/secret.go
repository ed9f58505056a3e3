package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
)

// newSecret shows the secret of a subscription that has just been made.
func newSecret(a *app, s *wire.Subscription) overlay {
	return a.secretText("Created", s, s.Secret)
}

// secretText shows a secret this once.
func (a *app) secretText(title string, s *wire.Subscription, secret string, more ...string) overlay {
	t := &text{app: a, title: title, copy: secret, lines: []span{
		{s.EventName + " to", ""}, {maskURL(s.URL), ""}, {},
		{"Its messages are signed with this secret. It is not", a.theme.crumb},
		{"shown again; " + a.keyFor(inText, copyCell) + " copies it:", a.theme.crumb}, {secret, ""},
	}}
	for _, line := range more {
		t.lines = append(t.lines, span{line, ""})
	}
	return t
}

// askSecret asks before the secret of a subscription is replaced.
func (a *app) askSecret(s wire.Subscription) {
	a.ask("Sign with a new secret?", "make a new one", []string{
		s.EventName + " to", "  " + maskURL(s.URL),
		"The new secret signs at once. For 24 hours the present one signs too: the receiver must know the new one by then.",
		"One replaced within the last 24 hours stops signing.",
	}, func() tea.Cmd { return a.rotateSecret(s) })
}

// rotatedMsg brings a new secret. It goes to no screen: it is shown also where
// the one that asked was left, since it is told but once.
type rotatedMsg struct {
	reply
	of   wire.Subscription
	made *wire.RotatedSecret
}

// rotated shows a new secret, and until when the one before signs too.
func (a *app) rotated(m rotatedMsg) {
	if m.err != nil {
		a.fail("new secret of "+m.of.EventName, m.err)
		return
	}
	until := "The one before does not sign any more."
	if at := time.Time(m.made.OldSecretUntil); !at.IsZero() {
		zone := a.options.Zone
		if a.times == utc {
			zone = time.UTC
		}
		until = "The one before signs too until " + at.In(zone).Format("2006-01-02 15:04") + "."
	}
	a.over = a.secretText("New secret", &m.of, m.made.Secret, until)
}
