package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// The saved views on the first screen, with how many rows they have.

// countEvery is how often the rows of views are counted at most.
const countEvery = 10 * time.Second

// count counts the rows of the saved views.
func (h *home) count() tea.Cmd {
	views := h.app.keeper.Views
	fresh := h.app.now.Sub(h.counted) < countEvery && !slices.ContainsFunc(views, func(v view) bool { return h.views[v.Name] == "" })
	if len(views) == 0 || fresh {
		return nil
	}
	h.counted = h.app.now
	return h.app.countViews(h.context, h, views)
}

// viewsListed are the views that there is room for.
func (h *home) viewsListed() []view {
	views := h.app.keeper.Views
	return views[:min(len(views), viewsShown)]
}

// viewLines lists the views, as many as there is room for.
func (h *home) viewLines(width, before int) []string {
	t := h.app.theme
	if len(h.viewsListed()) == 0 {
		return nil
	}
	lines := []string{h.app.compose(width, []span{{"Saved views", t.crumb}}, []span{{"rows ", t.label}})}
	for i, v := range h.viewsListed() {
		pointer, ink := h.pointer(before + i)
		rows := h.views[v.Name]
		if rows == "" {
			rows = strings.Repeat(t.Loading, 3)
		}
		lines = append(lines, h.app.compose(width, []span{{pointer + v.Name, ink}, {"  " + v.Record, t.dim}}, []span{{t.Fit(rows, 10, true) + " ", ""}}))
	}
	return lines
}

// How many are listed; the others are found by their names.
const (
	viewsShown     = 5
	endpointsShown = 6
)
