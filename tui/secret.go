package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// secretBox shows a secret, which is told but once. Keys that were meant for what
// was open before do not close it.
type secretBox struct {
	text
	since time.Time // when it was shown; zero while it waits
	under overlay   // what was opened over it, and waits until it is closed
}

func (s *secretBox) scopes() []keymap.Scope { return []keymap.Scope{keymap.InSecret} }

func (s *secretBox) do(b keymap.Binding) tea.Cmd {
	a := s.app
	switch {
	case a.now.Sub(s.since) < confirmPause:
	case b.Action == keymap.GoBack:
		a.secrets = slices.DeleteFunc(a.secrets, func(one *secretBox) bool { return one == s })
		a.over = s.under
	default:
		return s.text.do(b)
	}
	return nil
}

// tellOnce has a secret shown as soon as nothing else is typed or read.
func (a *app) tellOnce(s *secretBox) {
	if a.over != nil || a.line != nil {
		a.tell(ui.Warning, "there is a secret to be read: it is shown when this is closed")
	}
	a.secrets = append(a.secrets, s)
}

// showSecret shows the first of the secrets that wait, where nothing else is
// open. One that is shown stays in front until it is closed.
func (a *app) showSecret() {
	if len(a.secrets) == 0 {
		return
	}
	switch s := a.secrets[0]; {
	case a.over == overlay(s):
	case !s.since.IsZero():
		s.under, a.over = a.over, s
	case a.over == nil && a.line == nil:
		s.since, a.over = a.now, s
	}
}

// unread is how many secrets wait to be shown.
func (a *app) unread() (n int) {
	for _, s := range a.secrets {
		if s.since.IsZero() {
			n++
		}
	}
	return n
}

// newSecret shows the secret of a subscription that has just been made.
func newSecret(a *app, s *wire.Subscription) *secretBox {
	return a.secretText("Created", s, s.Secret)
}

// secretText shows a secret this once.
func (a *app) secretText(title string, s *wire.Subscription, secret string, more ...string) *secretBox {
	t := &secretBox{text: text{app: a, title: title, copy: secret, lines: []theme.Span{
		{Text: s.EventName + " to"}, {Text: maskURL(s.URL)}, {},
		{Text: "Its messages are signed with this secret. It is not", Ink: a.theme.Crumb},
		{Text: "shown again; " + keymap.KeyFor(keymap.InSecret, keymap.CopyCell) + " copies it:", Ink: a.theme.Crumb}, {Text: secret},
	}}}
	for _, line := range more {
		t.lines = append(t.lines, theme.Span{Text: line})
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
	a.tellOnce(a.secretText("New secret", &m.of, m.made.Secret, until))
}
