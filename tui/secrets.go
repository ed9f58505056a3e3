package tui

import "github.com/bizhook/whd/tui/ui"

// secrets shows secrets one after the other.
type secrets struct {
	*App
	queued []*ui.Secret // not closed yet; the first one is shown first
}

// ShowSecret shows a secret once no other overlay or input is open.
func (s *secrets) ShowSecret(one *ui.Secret) {
	if s.overlay != nil || s.input != nil {
		s.Notify(ui.Warning, "a secret will be shown when you close this")
	}
	s.queued = append(s.queued, one)
}

// showSecret shows the first secret if nothing else is open. It stays in front until it
// is closed.
func (s *secrets) showSecret() {
	if len(s.queued) == 0 {
		return
	}
	switch one := s.queued[0]; {
	case s.overlay == ui.Overlay(one):
	case !one.ShownAt.IsZero():
		one.Below, s.overlay = s.overlay, one
	case s.overlay == nil && s.input == nil:
		one.ShownAt, s.overlay = s.Now, one
	}
}

// unread returns the number of secrets that were not shown yet.
func (s *secrets) unread() (n int) {
	for _, one := range s.queued {
		if one.ShownAt.IsZero() {
			n++
		}
	}
	return n
}
