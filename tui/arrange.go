package tui

import (
	"github.com/bizhook/whd/tui/browse"

	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

func (s *messages) AsView() state.View {
	f := s.filter
	v := state.View{Record: ui.MessageRecord, Subscription: f.Subscription, Label: s.whose(), Problems: f.Problems, Undelivered: f.Undelivered, Arrangement: s.arrangement()}
	v.Where, v.OrderBy = s.typed.Texts(s.Now, ui.MessageKind(), f.Conditions), browse.OrderText(s.order)
	return v
}

func (s *messages) SetViewName(name string) { s.saved = name }

func (s *messages) Title() string {
	if s.saved != "" {
		return "Messages (" + s.saved + ")"
	}
	return "Messages"
}
