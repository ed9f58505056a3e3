package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// canSuspend reports that Windows has no job control.
func canSuspend() bool { return false }

// jobControl does nothing on Windows.
type jobControl struct{}

func newJobControl(context.Context, *terminalInput, func() bool) *jobControl { return &jobControl{} }

func (*jobControl) start(*tea.Program) {}

func (*jobControl) end() {}

func (*jobControl) filter(_ tea.Model, m tea.Msg) tea.Msg { return m }
