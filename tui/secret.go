package tui

import "github.com/bizhook/whd/tui/ui"

// ShowSecret has a secret shown as soon as nothing else is typed or read.
func (a *app) ShowSecret(s *ui.Secret) {
	if a.over != nil || a.line != nil {
		a.Tell(ui.Warning, "there is a secret to be read: it is shown when this is closed")
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
	case a.over == ui.Overlay(s):
	case !s.Since.IsZero():
		s.Under, a.over = a.over, s
	case a.over == nil && a.line == nil:
		s.Since, a.over = a.Now, s
	}
}

// unread is how many secrets wait to be shown.
func (a *app) unread() (n int) {
	for _, s := range a.secrets {
		if s.Since.IsZero() {
			n++
		}
	}
	return n
}
