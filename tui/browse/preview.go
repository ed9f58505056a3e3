package browse

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Preview shows the selected row of a grid on a wide screen, next to the grid or below it.
type Preview struct {
	grid  *grid.Grid
	list  PreviewedList // nil for no preview
	below int           // maximum height below the list, in lines; 0 for next to it
	share int           // share of the width next to the list, in percent

	id            string    // ID of the row with the screen
	screen        ui.Screen // nil for none
	loading       ui.Screen // the screen that was shown last; only one fetches at a time
	width, height int       // size of the screen; 0 if the preview is not shown
}

// PreviewedList is a list with a preview of its selected row.
type PreviewedList interface {
	// SelectedScreen returns a screen of the selected row, nil for none.
	SelectedScreen() ui.Screen
}

// ShowRight shows the preview to the right of the list, in a share of the width in percent.
func (p *Preview) ShowRight(list PreviewedList, share int) {
	p.list = list
	p.share = share
}

// ShowBelow shows the preview below the list, in a limited number of lines.
func (p *Preview) ShowBelow(list PreviewedList, height int) {
	p.list = list
	p.below = height
}

// PreviewMinWidth is the minimum width of a screen with a preview, in cells, without its frame.
const PreviewMinWidth = 118

// belowMinHeight is the minimum height of an area with a preview below the list.
const belowMinHeight = 26

// Fit divides an area of a screen between the grid and the preview.
func (p *Preview) Fit(screenWidth, width, height int) {
	p.width, p.height = 0, 0
	hasRoom := screenWidth >= PreviewMinWidth
	if p.below > 0 && height < belowMinHeight {
		hasRoom = false
	}
	if p.list == nil || !hasRoom {
		p.grid.SetSize(width, height)
		return
	}

	if p.below > 0 {
		p.width = width
		p.height = min(p.below, height/2)
		height -= p.height + 1
	} else {
		p.width = width * p.share / 100
		p.height = height
		width -= p.width + 1
	}
	p.resize()
	p.grid.SetSize(width, height)
}

func (p *Preview) resize() {
	if p.screen == nil || p.width == 0 {
		return
	}
	p.screen.SetSize(p.width, p.height)
}

// panel returns the panel of the screen, next to that of the list or below it.
func (p *Preview) panel(list theme.Panel) theme.Panel {
	panel := theme.Panel{X: list.Width + 1, Width: p.width, Height: p.height}
	if p.below > 0 {
		panel.X = 0
		panel.Y = list.Height + 1
	}
	if p.screen != nil {
		panel.Title = ui.Heading(p.screen.Title(), p.screen.Badges(), theme.Breadcrumb)
		panel.Lines = strings.Split(p.screen.View(), "\n")
	}
	for len(panel.Lines) < p.height {
		panel.Lines = append(panel.Lines, theme.Spaces(p.width))
	}
	return panel
}

// Refresh opens the screen of the selected row again.
func (p *Preview) Refresh() { p.id = "" }

// holds reports whether a screen is shown, or was shown last and still fetches.
func (p *Preview) holds(s ui.Screen) bool { return s == p.screen || s == p.loading }

func (p *Preview) close() {
	for _, s := range []ui.Screen{p.screen, p.loading} {
		if s != nil {
			s.Stop()
		}
	}
	p.id = ""
	p.screen = nil
	p.loading = nil
}

// update shows the screen of the row that is selected now. While a screen fetches, others show
// only the data of the list: keys that are held down do not cause a request for each row.
func (p *Preview) update() tea.Cmd {
	row := p.grid.Row()
	if p.width == 0 || row == nil {
		p.close()
		return nil
	}
	if row.ID != p.id {
		p.id = row.ID
		p.screen = p.list.SelectedScreen()
		if s, ok := p.screen.(interface{ HideCursor() }); ok {
			s.HideCursor()
		}
		p.resize()
	}
	if p.screen == nil || p.screen == p.loading {
		return nil
	}

	if p.loading != nil {
		if p.loading.Waiting() {
			return nil
		}
		p.loading.Stop()
	}
	p.loading = p.screen
	return p.screen.Shown()
}
