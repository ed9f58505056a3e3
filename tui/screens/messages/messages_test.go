package messages_test

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// Before the first response the status line shows no count.
func TestStatusWithoutResponseHasNoCount(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4")
	m := list(d)
	m.Reload()
	d.WantText("loading messages ...")
	pageFailed := func(err error) tea.Cmd { return m.PageFailed(m.Pages.Generation(), 0, err) }
	d.Respond(m, &client.Error{Kind: client.TimedOut, Message: "no response"}, pageFailed)
	d.Press("esc")
	d.WantText("no response yet: R retries")
	d.Press("R")
	d.WantText("1 of 8")
}

// A message that is to be selected once it is loaded is no longer awaited after a click or a new filter.
func TestInputEndsPendingSelection(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4")
	m := list(d)
	for name, input := range map[string]func(){
		"a click":      func() { d.Run(m.Click(5, 2, false)) },
		"a new filter": func() { d.Press("!") },
	} {
		m.SelectID = "a message that is not loaded"
		input()
		if m.SelectID != "" {
			t.Errorf("after %s, the message %q is still awaited", name, m.SelectID)
		}
	}
}
