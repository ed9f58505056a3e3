package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// delayed is an irreversible change that is sent after a delay, during which it can be
// undone.
type delayed struct {
	due  time.Time
	name string   // shown to the user
	ids  []string // affected objects; empty if only the service knows them
	run  func() tea.Cmd
}

// undo holds the delayed changes.
type undo struct {
	*App
	delayed []delayed
}

// Delay queues a change for UndoDelay.
func (u *undo) Delay(name string, ids []string, run func() tea.Cmd) tea.Cmd {
	u.delayed = append(u.delayed, delayed{u.Now.Add(ui.UndoDelay), name, ids, run})
	return u.Front().Shown()
}

// undoLast undoes the last delayed change.
func (u *undo) undoLast() tea.Cmd {
	last := len(u.delayed) - 1
	if last < 0 {
		u.Notify(ui.Warning, "nothing to undo: only deletes of messages can be undone, for "+ui.Age(ui.UndoDelay))
		return nil
	}
	name := u.delayed[last].name
	u.delayed = u.delayed[:last]
	u.Notify(ui.Info, name+": undone, nothing was sent")
	return u.Front().Shown()
}

// sendDue sends the changes with an elapsed delay.
func (u *undo) sendDue() tea.Cmd {
	var cmds []tea.Cmd
	u.delayed = slices.DeleteFunc(u.delayed, func(d delayed) bool {
		due := !u.Now.Before(d.due)
		if due {
			cmds = append(cmds, d.run())
		}
		return due
	})
	return tea.Batch(cmds...)
}

// Delayed reports whether a delayed change affects an object.
func (u *undo) Delayed(id string) bool {
	return slices.ContainsFunc(u.delayed, func(d delayed) bool { return slices.Contains(d.ids, id) })
}

// undoSpans returns the last delayed change and the key that undoes it.
func (u *undo) undoSpans() []theme.Span {
	if len(u.delayed) == 0 {
		return nil
	}
	last := u.delayed[len(u.delayed)-1]
	left := (last.due.Sub(u.Now) + time.Second - 1).Truncate(time.Second)
	return []theme.Span{{Text: last.name + " in " + ui.Age(left) + "  ", Role: theme.Waiting}, {Text: keymap.KeyFor(keymap.Everywhere, keymap.Undo), Role: theme.Key}, {Text: " undo ", Role: theme.Dim}}
}

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

// progress returns the progress of a job.
func progress(j *export.Job) string {
	rows := int(j.Rows.Load())
	switch {
	case j.Ended.IsZero() && j.Total > 0:
		return fmt.Sprintf("%s of %s, %d%%", display.Thousands(rows), display.Thousands(j.Total), min(99, rows*100/j.Total))
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
func (j *jobs) jobSpans() []theme.Span {
	running := j.running()
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
	jobs *jobs
	at   int
}

func (j *jobs) list() ui.Overlay { return &jobList{HostSession: ui.NewHostSession(j.App), jobs: j} }

func (l *jobList) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InJobs} }

// selected returns the selected job, nil for none.
func (l *jobList) selected() *export.Job {
	all := l.jobs.all
	if i := len(all) - 1 - l.at; i >= 0 {
		return all[i]
	}
	return nil
}

func (l *jobList) Do(b keymap.Binding) tea.Cmd {
	one := l.selected()
	switch {
	case b.Action == keymap.GoBack:
		l.ShowOverlay(nil)
	case one == nil:
	case b.Action == keymap.GoUp:
		l.at = max(0, l.at-1)
	case b.Action == keymap.GoDown:
		l.at = min(len(l.jobs.all)-1, l.at+1)
	case b.Action == keymap.CopyCell:
		l.Copy(one.Path)
	case b.Action == keymap.CancelJob && one.Ended.IsZero():
		one.Cancel()
	}
	return nil
}

func (l *jobList) Box(width, height int) []string {
	t := l.Theme
	width = min(width, 96) - 4
	all := l.jobs.all
	if len(all) == 0 {
		return l.Theme.Frame("Exports", width, []string{t.Paint(theme.Dim, t.Fit("No exports in this session. "+keymap.KeyFor(keymap.InBrowser, keymap.Export)+" in a list exports its rows.", width, false))})
	}
	room := max(1, (height-2)/2)
	var lines []string
	for i := max(0, l.at-room+1); i < len(all) && len(lines) < 2*room; i++ {
		j := all[len(all)-1-i]
		pointer, role := t.RowPrefix(i == l.at)
		lines = append(lines,
			l.Theme.Compose(width, []theme.Span{{Text: pointer + l.TimeOfDay(j.Started) + "  " + j.Name, Role: role}}, []theme.Span{{Text: progress(j), Role: roleOf(j)}}),
			t.Paint(theme.Dim, t.Fit("            "+l.detail(j), width, false)))
	}
	return l.Theme.Frame("Exports", width, lines)
}

func roleOf(j *export.Job) theme.Role {
	switch {
	case j.Ended.IsZero():
		return theme.Accent
	case j.Err != nil:
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
