package messages

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// Arrange applies saved columns and widths. Filter and order are part of a view
// only; a list starts with the newest messages.
func (s *List) Arrange(as state.Arrangement) {
	s.Columns.arrange(as)
	s.Rows.rebuild()
}

// remember saves the arrangement. In a view only :save does.
func (s *List) remember() {
	if s.saved == "" {
		s.State.SetGrid(gridKey, s.Columns.arrangement())
	}
}

// chooseColumns opens the column chooser.
func (s *List) chooseColumns() {
	empty := func(name string) bool { return s.Columns.empty(name, s.Rows.Known) }
	s.ShowOverlay(browse.NewChooser(s.Host, columnKind(), s.Title(), s.Columns.Names(), DefaultColumnNames(), empty, func(names []string) tea.Cmd {
		s.Columns.show(names, s.Grid.Frozen())
		s.Rows.rebuild()
		s.remember()
		return s.want()
	}))
}

// copyRows copies the marked messages as tab-separated lines, or one message as
// JSON if none is marked.
func (s *List) copyRows(selected wire.Message) {
	rows := s.Grid.MarkedRows()
	if len(rows) == 0 {
		s.Copy(messageJSON(selected))
		return
	}
	var lines []string
	for _, row := range rows {
		line := ""
		if m, known := s.Rows.Known[row.ID]; known {
			line = s.Columns.line(m)
		}
		lines = append(lines, line)
	}
	s.Copy(strings.Join(lines, "\n"))
	if notLoaded := s.Pages.Total() - len(rows); s.Marks.All && notLoaded > 0 {
		s.Notify(ui.Warning, display.Count(len(rows), "row", "rows")+" copied: "+display.Thousands(notLoaded)+" more matches are not loaded")
	}
}
