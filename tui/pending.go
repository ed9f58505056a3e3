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

// delayed is a change that nothing can bring back and that waits a moment
// therefore. Until then it is known here only.
type delayed struct {
	due  time.Time
	what string   // for people
	ids  []string // what it is about; empty where only the service knows
	run  func() tea.Cmd
}

// undo is the changes that can be taken back still.
type undo struct {
	*App
	delayed []delayed
}

// Delay makes a change in a moment.
func (u *undo) Delay(what string, ids []string, run func() tea.Cmd) tea.Cmd {
	u.delayed = append(u.delayed, delayed{u.Now.Add(ui.UndoDelay), what, ids, run})
	return u.Front().Shown()
}

// takeBack takes the last change back that still waits.
func (u *undo) takeBack() tea.Cmd {
	last := len(u.delayed) - 1
	if last < 0 {
		u.Notify(ui.Warning, "there is nothing to take back: only deletes of messages wait, for "+ui.Age(ui.UndoDelay))
		return nil
	}
	what := u.delayed[last].what
	u.delayed = u.delayed[:last]
	u.Notify(ui.Info, what+": taken back, nothing was sent")
	return u.Front().Shown()
}

// makeDue makes the changes whose time has come.
func (u *undo) makeDue() tea.Cmd {
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

// Delayed reports whether a change of this waits.
func (u *undo) Delayed(id string) bool {
	return slices.ContainsFunc(u.delayed, func(d delayed) bool { return slices.Contains(d.ids, id) })
}

// undoSpans tell what waits and how to take it back.
func (u *undo) undoSpans() []theme.Span {
	if len(u.delayed) == 0 {
		return nil
	}
	last := u.delayed[len(u.delayed)-1]
	left := (last.due.Sub(u.Now) + time.Second - 1).Truncate(time.Second)
	return []theme.Span{{Text: last.what + " in " + ui.Age(left) + "  ", Role: theme.Waiting}, {Text: keymap.KeyFor(keymap.Everywhere, keymap.Undo), Role: theme.Key}, {Text: " undo ", Role: theme.Dim}}
}

// secrets are shown one after the other.
type secrets struct {
	*App
	waiting []*ui.Secret // those that nobody has read and closed yet, the one that is shown first
}

// ShowSecret has a secret shown as soon as nothing else is typed or read.
func (s *secrets) ShowSecret(one *ui.Secret) {
	if s.over != nil || s.line != nil {
		s.Notify(ui.Warning, "there is a secret to be read: it is shown when this is closed")
	}
	s.waiting = append(s.waiting, one)
}

// showSecret shows the first of the secrets that wait, where nothing else is
// open. One that is shown stays in front until it is closed.
func (s *secrets) showSecret() {
	if len(s.waiting) == 0 {
		return
	}
	switch one := s.waiting[0]; {
	case s.over == ui.Overlay(one):
	case !one.ShownAt.IsZero():
		one.Below, s.over = s.over, one
	case s.over == nil && s.line == nil:
		one.ShownAt, s.over = s.Now, one
	}
}

// unread is how many secrets wait to be shown.
func (s *secrets) unread() (n int) {
	for _, one := range s.waiting {
		if one.ShownAt.IsZero() {
			n++
		}
	}
	return n
}

// jobs are the exports of the session, the first first.
type jobs struct {
	*App
	all     []*export.Job
	writing sync.WaitGroup
}

// running is how many are on their way.
func (j *jobs) running() int {
	n := 0
	for _, one := range j.all {
		if one.Ended.IsZero() {
			n++
		}
	}
	return n
}

// wait waits until no job writes any more.
func (j *jobs) wait() { j.writing.Wait() }

// Export writes rows to a file, in the background. The writing begins at once,
// so that whoever waits for it waits for all of it.
func (j *jobs) Export(one *export.Job) tea.Cmd {
	one.Started = j.Now
	one.Context, one.Cancel = context.WithCancel(j.Context)
	j.all = append(j.all, one)
	j.Notify(ui.Info, "export to "+one.Path+" has begun; "+keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs)+" lists exports")
	c, ctx := j.Client, j.Context
	written := make(chan error, 1)
	j.writing.Go(func() { written <- one.Write(c, ctx) })
	return func() tea.Msg { return exportMsg{reply{err: <-written}, one} }
}

// exported tells how an export ended.
func (j *jobs) exported(m exportMsg) {
	one := m.job
	one.Ended, one.Err = j.Now, m.err
	one.Cancel()
	one.Fetched, one.Only = nil, nil
	switch {
	case client.Is(m.err, client.Cancelled):
		j.Notify(ui.Warning, "cancelled: export to "+one.Path)
	case m.err != nil:
		j.ShowError("export to "+filepath.Base(one.Path), m.err)
	default:
		j.Notify(ui.Info, display.Count(one.Rows.Load(), "row", "rows")+" written to "+one.Path)
	}
}

// progress is how far a job is, in few words.
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

// jobWord says in the line of status what is on its way, "" where nothing is.
func (j *jobs) jobWord() string {
	var one *export.Job
	for _, job := range j.all {
		if job.Ended.IsZero() {
			one = job
		}
	}
	switch n := j.running(); {
	case one == nil:
		return ""
	case n > 1:
		return fmt.Sprintf("%d exports  %s ", n, progress(one))
	}
	return "export " + progress(one) + " "
}

// jobList shows the exports of the session, the last first.
type jobList struct {
	ui.Dialog
	jobs *jobs
	at   int
}

func (j *jobs) list() ui.Overlay { return &jobList{Dialog: ui.NewDialog(j.App), jobs: j} }

func (l *jobList) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InJobs} }

// selected is the job that the pointer stands at, nil for none.
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
		return l.Theme.Frame("Exports", width, []string{t.Paint(theme.Dim, t.Fit("Nothing was exported in this session: "+keymap.KeyFor(keymap.InBrowser, keymap.Export)+" exports rows.", width, false))})
	}
	room := max(1, (height-2)/2)
	var lines []string
	for i := max(0, l.at-room+1); i < len(all) && len(lines) < 2*room; i++ {
		j := all[len(all)-1-i]
		pointer, role := t.RowPrefix(i == l.at)
		lines = append(lines,
			l.Theme.Compose(width, []theme.Span{{Text: pointer + l.TimeOfDay(j.Started) + "  " + j.Name, Role: role}}, []theme.Span{{Text: progress(j), Role: roleOf(j)}}),
			t.Paint(theme.Dim, t.Fit("            "+l.below(j), width, false)))
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

// below is the path, or why a job has failed.
func (l *jobList) below(j *export.Job) string {
	if j.Err != nil && !client.Is(j.Err, client.Cancelled) {
		return ui.Describe(j.Err)
	}
	return j.Path
}
