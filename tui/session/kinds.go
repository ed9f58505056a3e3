package session

import (
	"context"
	"reflect"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// KindsHost is the part of the app that the record kinds use.
type KindsHost interface {
	CurrentSession() *ui.Session
	Front() ui.Screen
}

// Kinds fetches the record kinds of the service.
type Kinds struct{ host KindsHost }

// NewKinds returns the record kinds of the sessions of a host.
func NewKinds(h KindsHost) *Kinds { return &Kinds{host: h} }

// Fetch fetches the record kinds of the service, which are stored for the next start.
// Screens that are open keep theirs, except the list.
func (k *Kinds) Fetch() tea.Cmd {
	s := k.host.CurrentSession()
	if s.FetchKinds == nil {
		return nil
	}
	c, registry := s.Client, s.Registry
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.Context, FetchTimeout)
		defer cancel()
		kinds, err := s.FetchKinds(ctx, c)
		changed := err == nil && !reflect.DeepEqual(kinds, registry)
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			if !changed || s != k.host.CurrentSession() {
				return nil
			}
			s.Registry = kinds
			return k.host.Front().Shown()
		}}
	}
}
