package tui

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// jobs holds the exports of the session, oldest first.
type jobs struct {
	*App
	all     []*export.Job
	writing sync.WaitGroup
}

// running returns the running exports.
func (j *jobs) running() []*export.Job {
	return slices.DeleteFunc(slices.Clone(j.all), func(one *export.Job) bool { return !one.Ended.IsZero() })
}

// Export writes rows to a file in the background. It starts writing before it returns,
// so that wait includes the job.
func (j *jobs) Export(one *export.Job) tea.Cmd {
	one.Started = j.Now
	one.Context, one.Cancel = context.WithCancel(j.Context)
	j.all = append(j.all, one)
	j.Notify(ui.Info, "exporting to "+one.Path+"; "+keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs)+" lists exports")
	c, ctx := j.Client, j.Context
	written := make(chan error, 1)
	j.writing.Go(func() { written <- one.Write(c, ctx) })
	return func() tea.Msg {
		err := <-written
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			j.exportEnded(one, err)
			return nil
		}}
	}
}

// exportEnded shows the outcome of an export.
func (j *jobs) exportEnded(one *export.Job, err error) {
	one.Ended, one.Err = j.Now, err
	one.Cancel()
	one.Fetched, one.Only = nil, nil
	switch {
	case client.Is(err, client.Cancelled):
		j.Notify(ui.Warning, "cancelled: export to "+one.Path)
	case err != nil:
		j.ShowError("export to "+filepath.Base(one.Path), err)
	default:
		j.Notify(ui.Info, display.Count(one.Rows.Load(), "row", "rows")+" written to "+one.Path)
	}
}
