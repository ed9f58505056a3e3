package shell

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// progress returns the progress of a job.
func progress(j *export.Job) string {
	rows := int(j.Rows.Load())
	switch {
	case j.Ended.IsZero() && j.Total > 0:
		return fmt.Sprintf("%s of %s, %d%%", display.Thousands(rows), display.Thousands(j.Total),
			min(99, rows*100/j.Total))
	case j.Ended.IsZero():
		return display.Count(rows, "row", "rows")
	case client.Is(j.Err, client.Cancelled):
		return "cancelled"
	case j.Err != nil:
		return "failed"
	}
	return display.Count(rows, "row", "rows") + " written"
}

// jobSpans returns the progress of the running exports for the end of the status line.
func jobSpans(running []*export.Job) []theme.Span {
	if len(running) == 0 {
		return nil
	}
	text := "export "
	if n := len(running); n > 1 {
		text = fmt.Sprintf("%d exports  ", n)
	}
	return []theme.Span{{Text: " " + text + progress(running[len(running)-1]) + "  ", Role: theme.Accent}}
}

// JobListHost is the part of the app that the list of exports uses.
type JobListHost interface {
	CurrentSession() *ui.Session
	// Copy copies text to the clipboard.
	Copy(text string)
	ShowOverlay(o ui.Overlay)
}

// jobList is the list of exports, newest first.
type jobList struct {
	host  JobListHost
	jobs  *session.Jobs
	index int // of the selected job
}

// NewJobList returns the list of exports.
func NewJobList(h JobListHost, jobs *session.Jobs) ui.Overlay {
	return &jobList{host: h, jobs: jobs}
}

func (l *jobList) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InJobs} }

// selected returns the selected job, nil for none.
func (l *jobList) selected() *export.Job {
	if l.index >= len(l.jobs.All) {
		return nil
	}
	return l.job(l.index)
}

// job returns the job in a row of the list.
func (l *jobList) job(row int) *export.Job { return l.jobs.All[len(l.jobs.All)-1-row] }

func (l *jobList) Do(b keymap.Binding) tea.Cmd {
	if b.Action == keymap.GoBack {
		l.host.ShowOverlay(nil)
		return nil
	}
	job := l.selected()
	if job == nil {
		return nil
	}
	switch b.Action {
	case keymap.GoUp:
		l.index = max(0, l.index-1)
	case keymap.GoDown:
		l.index = min(len(l.jobs.All)-1, l.index+1)
	case keymap.CopyCell:
		l.host.Copy(job.Path)
	case keymap.CancelJob:
		if job.Ended.IsZero() {
			job.Cancel()
		}
	}
	return nil
}

func (l *jobList) Box(width, height int) []string {
	t := l.host.CurrentSession().Theme
	width = min(width, 96) - 4
	jobs := len(l.jobs.All)
	if jobs == 0 {
		text := "No exports in this session. " + keymap.KeyFor(keymap.InBrowser, keymap.Export) +
			" in a list exports its rows."
		return t.Frame("Exports", width, []string{t.Paint(theme.Dim, t.Fit(text, width, false))})
	}
	room := max(1, (height-2)/2) // each job has two lines
	first := max(0, l.index-room+1)
	var lines []string
	for row := first; row < min(jobs, first+room); row++ {
		lines = append(lines, l.jobLines(row, width)...)
	}
	return t.Frame("Exports", width, lines)
}

// jobLines draws a job: its name and progress, and its path or error.
func (l *jobList) jobLines(row, width int) []string {
	s := l.host.CurrentSession()
	t := s.Theme
	job := l.job(row)
	name := theme.Span{Text: s.TimeOfDay(job.Started) + "  " + job.Name}
	state := theme.Span{Text: progress(job), Role: roleOf(job)}
	detail := theme.Span{Text: theme.Spaces(len("15:04:05  ")) + l.detail(job), Role: theme.Dim}
	return []string{
		t.Row(width, row == l.index, []theme.Span{name}, []theme.Span{state}),
		t.Row(width, row == l.index, []theme.Span{detail}, nil),
	}
}

// roleOf returns the role of the progress of a job.
func roleOf(j *export.Job) theme.Role {
	if j.Ended.IsZero() {
		return theme.Accent
	}
	if j.Err != nil {
		return theme.Failure
	}
	return theme.Success
}

// detail returns the path of a job, or its error.
func (l *jobList) detail(j *export.Job) string {
	if j.Err != nil && !client.Is(j.Err, client.Cancelled) {
		return ui.Describe(j.Err)
	}
	return j.Path
}
