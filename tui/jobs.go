package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// job is an export that runs in the background.
type job struct {
	name    string // of what is exported
	path    string
	format  format
	columns []exportColumn
	query   client.Query
	key     string              // the field that tells rows apart
	only    map[string]struct{} // the rows that are meant, by their key; nil for all
	held    []client.Row        // the rows, where they are here already
	total   int                 // -1 where nobody knows

	rows    atomic.Int64 // written so far
	context context.Context
	cancel  context.CancelFunc
	began   time.Time
	ended   time.Time // zero while it runs
	err     error     // how it ended
}

// jobs are the exports of the session, the first first.
type jobs struct {
	all     []*job
	writing sync.WaitGroup
}

// running is how many are on their way.
func (j *jobs) running() int {
	n := 0
	for _, one := range j.all {
		if one.ended.IsZero() {
			n++
		}
	}
	return n
}

// wait waits until no job writes any more.
func (j *jobs) wait() { j.writing.Wait() }

// begin starts a job.
func (a *app) begin(j *job) tea.Cmd {
	j.began = a.now
	j.context, j.cancel = context.WithCancel(a.context)
	a.jobs.all = append(a.jobs.all, j)
	a.tell(info, "export to "+j.path+" has begun; "+keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs)+" lists exports")
	return a.export(j)
}

// exported tells how an export ended.
func (a *app) exported(m exportMsg) {
	j := m.job
	j.ended, j.err = a.now, m.err
	j.cancel()
	j.held, j.only = nil, nil
	switch {
	case client.Is(m.err, client.Cancelled):
		a.tell(warning, "cancelled: export to "+j.path)
	case m.err != nil:
		a.fail("export to "+filepath.Base(j.path), m.err)
	default:
		a.tell(info, plural(int(j.rows.Load()), "row", "rows")+" written to "+j.path)
	}
}

// progress is how far a job is, in few words.
func (j *job) progress() string {
	rows := int(j.rows.Load())
	switch {
	case j.ended.IsZero() && j.total > 0:
		return fmt.Sprintf("%s of %s, %d%%", grid.Thousands(rows), grid.Thousands(j.total), min(99, rows*100/j.total))
	case j.ended.IsZero():
		return plural(rows, "row", "rows")
	case client.Is(j.err, client.Cancelled):
		return "cancelled"
	case j.err != nil:
		return "failed"
	}
	return plural(rows, "row", "rows") + " written"
}

// jobWord says in the line of status what is on its way, "" where nothing is.
func (a *app) jobWord() string {
	var one *job
	for _, j := range a.jobs.all {
		if j.ended.IsZero() {
			one = j
		}
	}
	switch n := a.jobs.running(); {
	case one == nil:
		return ""
	case n > 1:
		return fmt.Sprintf("%d exports  %s ", n, one.progress())
	}
	return "export " + one.progress() + " "
}

// jobList shows the exports of the session, the last first.
type jobList struct {
	app *app
	at  int
}

func newJobList(a *app) overlay { return &jobList{app: a} }

func (l *jobList) scopes() []keymap.Scope { return []keymap.Scope{keymap.InJobs} }

// selected is the job that the pointer stands at, nil for none.
func (l *jobList) selected() *job {
	all := l.app.jobs.all
	if i := len(all) - 1 - l.at; i >= 0 {
		return all[i]
	}
	return nil
}

func (l *jobList) do(b keymap.Binding) tea.Cmd {
	one := l.selected()
	switch {
	case b.Action == keymap.GoBack:
		l.app.over = nil
	case one == nil:
	case b.Action == keymap.GoUp:
		l.at = max(0, l.at-1)
	case b.Action == keymap.GoDown:
		l.at = min(len(l.app.jobs.all)-1, l.at+1)
	case b.Action == keymap.CopyCell:
		l.app.clip(one.path)
	case b.Action == keymap.CancelJob && one.ended.IsZero():
		one.cancel()
	}
	return nil
}

func (l *jobList) box(width, height int) []string {
	t := l.app.theme
	width = min(width, 96) - 4
	all := l.app.jobs.all
	if len(all) == 0 {
		return l.app.theme.Frame("Exports", width, []string{t.Dim.Paint(t.Fit("Nothing was exported in this session: "+keymap.KeyFor(keymap.InBrowser, keymap.Export)+" exports rows.", width, false))})
	}
	room := max(1, (height-2)/2)
	var lines []string
	for i := max(0, l.at-room+1); i < len(all) && len(lines) < 2*room; i++ {
		j := all[len(all)-1-i]
		pointer, ink := "  ", theme.Ink("")
		if i == l.at {
			pointer, ink = t.Pointer+" ", t.Selected
		}
		lines = append(lines,
			l.app.theme.Compose(width, []theme.Span{{Text: pointer + l.app.clock(j.began) + "  " + j.name, Ink: ink}}, []theme.Span{{Text: j.progress(), Ink: l.inkOf(j)}}),
			t.Dim.Paint(t.Fit("            "+l.below(j), width, false)))
	}
	return l.app.theme.Frame("Exports", width, lines)
}

func (l *jobList) inkOf(j *job) theme.Ink {
	switch {
	case j.ended.IsZero():
		return l.app.theme.Accent
	case j.err != nil:
		return l.app.theme.Status[3]
	}
	return l.app.theme.Status[1]
}

// below is the path, or why a job has failed.
func (l *jobList) below(j *job) string {
	if j.err != nil && !client.Is(j.err, client.Cancelled) {
		return describe(j.err)
	}
	return j.path
}
