package home

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// countInterval is the minimum time between counts of the saved views.
const countInterval = 10 * time.Second

// viewCounts has the number of rows of each saved view.
type viewCounts struct {
	session   *ui.Session
	texts     map[string]string // by view name
	countedAt time.Time         // when the rows were counted last
}

// update counts the rows of the saved views for a screen, at most once per countInterval unless a
// view has no count yet.
func (vc *viewCounts) update(ctx context.Context, to ui.Screen) tea.Cmd {
	views := vc.session.State.Views
	uncounted := slices.ContainsFunc(views, func(v state.View) bool { return vc.texts[v.Name] == "" })
	isRecent := vc.session.Now.Sub(vc.countedAt) < countInterval && !uncounted
	if len(views) == 0 || isRecent {
		return nil
	}
	vc.countedAt = vc.session.Now
	return vc.count(ctx, to, views)
}

// count counts the rows of views sequentially.
func (vc *viewCounts) count(ctx context.Context, to ui.Screen, views []state.View) tea.Cmd {
	c := vc.session.Client
	queries := make(map[string]client.Query)
	for _, v := range views {
		if q, ok := browse.ViewQuery(v, vc.session); ok {
			queries[v.Name] = q
		}
	}
	return func() tea.Msg {
		counts := make(map[string]string)
		for name, q := range queries {
			n, err := c.Count(ctx, q)
			counts[name] = display.Thousands(n)
			if err != nil {
				counts[name] = "?"
			}
		}
		return ui.Response{To: to, Background: true, Apply: func() tea.Cmd {
			vc.texts = counts
			return nil
		}}
	}
}

// visibleViews returns the views that are listed: the first maxViews.
func (h *Screen) visibleViews() []state.View {
	views := h.Session.State.Views
	return views[:min(len(views), maxViews)]
}

// viewLines draws the listed views with their row counts; before is the number of
// entries above them.
func (l layout) viewLines(before int) []string {
	t := l.session.Theme
	name, count := 0, len("999")
	for _, v := range l.views {
		name = max(name, theme.Width(v.Name))
		count = max(count, theme.Width(l.viewCounts[v.Name]))
	}
	var lines []string
	for i, v := range l.views {
		rows := cmp.Or(l.viewCounts[v.Name], strings.Repeat(t.Loading, 3))
		lines = append(lines, t.SignRow(l.width, before+i == l.selected, []theme.Span{
			{Text: "  " + t.Fit(rows, count, true) + "   " + t.Fit(v.Name, name, false)},
			{Text: "   " + v.Record, Role: theme.Dim},
		}, nil))
	}
	return lines
}

// maxViews is the maximum number of listed views.
const maxViews = 5
