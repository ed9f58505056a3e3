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

// jobList is the list of exports, newest first.
type jobList struct {
	ui.HostSession
	jobs *session.Jobs
	at   int
}

func NewJobList(h ui.Host, jobs *session.Jobs) ui.Overlay {
	return &jobList{HostSession: ui.NewHostSession(h), jobs: jobs}
}

func (l *jobList) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InJobs} }

// selected returns the selected job, nil for none.
func (l *jobList) selected() *export.Job {
	all := l.jobs.All
	if i := len(all) - 1 - l.at; i >= 0 {
		return all[i]
	}
	return nil
}

func (l *jobList) Do(b keymap.Binding) tea.Cmd {
	job := l.selected()
	switch {
	case b.Action == keymap.GoBack:
		l.Host.ShowOverlay(nil)
	case job == nil:
	case b.Action == keymap.GoUp:
		l.at = max(0, l.at-1)
	case b.Action == keymap.GoDown:
		l.at = min(len(l.jobs.All)-1, l.at+1)
	case b.Action == keymap.CopyCell:
		l.Host.Copy(job.Path)
	case b.Action == keymap.CancelJob && job.Ended.IsZero():
		job.Cancel()
	}
	return nil
}

func (l *jobList) Box(width, height int) []string {
	t := l.Session.Theme
	width = min(width, 96) - 4
	all := l.jobs.All
	if len(all) == 0 {
		return l.Session.Theme.Frame("Exports", width,
			[]string{t.Paint(theme.Dim,
				t.Fit("No exports in this session. "+keymap.KeyFor(keymap.InBrowser, keymap.Export)+
					" in a list exports its rows.", width, false))})
	}
	room := max(1, (height-2)/2)
	var lines []string
	for i := max(0, l.at-room+1); i < len(all) && len(lines) < 2*room; i++ {
		j := all[len(all)-1-i]
		pointer, role := t.RowPrefix(i == l.at)
		lines = append(lines,
			l.Session.Theme.Compose(width,
				[]theme.Span{{Text: pointer + l.Session.TimeOfDay(j.Started) + "  " + j.Name, Role: role}},
				[]theme.Span{{Text: progress(j), Role: roleOf(j)}}),
			t.Paint(theme.Dim, t.Fit("            "+l.detail(j), width, false)))
	}
	return l.Session.Theme.Frame("Exports", width, lines)
}

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
