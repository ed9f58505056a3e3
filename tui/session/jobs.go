package session

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

// JobsHost is the part of the app that the exports use.
type JobsHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	ShowError(action string, err error)
}

// Jobs holds the exports of the session.
type Jobs struct {
	host    JobsHost
	All     []*export.Job // oldest first
	writing sync.WaitGroup
}

// NewJobs returns a session without exports.
func NewJobs(h JobsHost) *Jobs { return &Jobs{host: h} }

// Running returns the running exports.
func (j *Jobs) Running() []*export.Job {
	return slices.DeleteFunc(slices.Clone(j.All), func(job *export.Job) bool { return !job.Ended.IsZero() })
}

// Export writes rows to a file in the background. It starts writing before it returns,
// so that Wait includes the job.
func (j *Jobs) Export(job *export.Job) tea.Cmd {
	s := j.host.CurrentSession()
	c, ctx := s.Client, s.Context
	job.Started = s.Now
	job.Context, job.Cancel = context.WithCancel(ctx)
	j.All = append(j.All, job)
	j.host.Notify(ui.Info,
		"exporting to "+job.Path+"; "+keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs)+" lists exports")

	written := make(chan error, 1)
	j.writing.Go(func() { written <- job.Write(c, ctx) })
	return func() tea.Msg {
		err := <-written
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			j.ended(job, err)
			return nil
		}}
	}
}

// ended shows the outcome of an export.
func (j *Jobs) ended(job *export.Job, err error) {
	job.Ended = j.host.CurrentSession().Now
	job.Err = err
	job.Cancel()
	job.Fetched = nil // frees the memory; the list of exports does not need them
	job.Only = nil
	switch {
	case client.Is(err, client.Cancelled):
		j.host.Notify(ui.Warning, "cancelled: export to "+job.Path)
	case err != nil:
		j.host.ShowError("export to "+filepath.Base(job.Path), err)
	default:
		j.host.Notify(ui.Info, display.Count(job.Rows.Load(), "row", "rows")+" written to "+job.Path)
	}
}

// Wait waits for the exports to finish.
func (j *Jobs) Wait() { j.writing.Wait() }
