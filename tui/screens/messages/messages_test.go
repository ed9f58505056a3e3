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
