package tui

import "github.com/bizhook/whd/tui/ui"

// secrets are shown one after the other.
type secrets struct {
	*app
	waiting []*ui.Secret // those that nobody has read and closed yet, the one that is shown first
}

// ShowSecret has a secret shown as soon as nothing else is typed or read.
func (s *secrets) ShowSecret(one *ui.Secret) {
	if s.over != nil || s.line != nil {
		s.Tell(ui.Warning, "there is a secret to be read: it is shown when this is closed")
	}
	s.waiting = append(s.waiting, one)
}

// showSecret shows the first of the secrets that wait, where nothing else is
// open. One that is shown stays in front until it is closed.
func (s *secrets) showSecret() {
	if len(s.waiting) == 0 {
		return
	}
	switch one := s.waiting[0]; {
	case s.over == ui.Overlay(one):
	case !one.Since.IsZero():
		one.Under, s.over = s.over, one
	case s.over == nil && s.line == nil:
		one.Since, s.over = s.Now, one
	}
}

// unread is how many secrets wait to be shown.
func (s *secrets) unread() (n int) {
	for _, one := range s.waiting {
		if one.Since.IsZero() {
			n++
		}
	}
	return n
}
