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
	Grid *grid.Grid

	ScreenOf func() ui.Screen // returns the screen of the selected row; nil for none
	Below    int              // maximum height below the list; 0 for next to it
	Share    int              // of the width next to the list, in percent

	id            string
	screen        ui.Screen // nil for none
	loading       ui.Screen // the screen that was shown last; only one fetches at a time
	width, height int
}

// PreviewMinWidth is the minimum width of a screen with a preview, in cells.
const PreviewMinWidth = 120

// belowMinHeight is the minimum height of an area with a preview below the list.
const belowMinHeight = 26

// previewHead is the number of lines above the screen: its title and a line.
const previewHead = 2

// fit sets the size of the preview in an area, and returns the size that is left for the list.
func (p *Preview) fit(screenWidth, width, height int) (listWidth, listHeight int) {
	p.width, p.height = 0, 0
	switch {
	case p.ScreenOf == nil || screenWidth < PreviewMinWidth || p.Below > 0 && height < belowMinHeight:
		return width, height
	case p.Below > 0:
		p.width, p.height = width, min(p.Below, height/2-previewHead)
		listWidth, listHeight = width, height-p.height-previewHead-1
	default:
		p.width, p.height = width*p.Share/100, height-previewHead
		listWidth, listHeight = width-p.width-1, height
	}
	p.resize()
	return listWidth, listHeight
}

func (p *Preview) resize() {
	if p.screen == nil || p.width == 0 {
		return
	}
	p.screen.SetSize(p.width, p.height)
}

// draw draws the title of the screen, a line, and the screen.
func (p *Preview) draw(t *theme.Theme) []string {
	title, body := []theme.Span{}, []string{}
	if p.screen != nil {
		title = append(title, theme.Span{Text: " " + p.screen.Title(), Role: theme.Title})
		for _, badge := range p.screen.Badges() {
			title = append(title, theme.Span{Text: "  [" + badge + "]", Role: theme.Badge})
		}
		body = strings.Split(p.screen.View(), "\n")
	}
	for len(body) < p.height {
		body = append(body, theme.Spaces(p.width))
	}
	return append([]string{t.Compose(p.width, title, nil), t.Paint(theme.Rule, strings.Repeat(t.Line, p.width))}, body[:p.height]...)
}

// Refresh opens the screen of the selected row again.
func (p *Preview) Refresh() { p.id = "" }

// Previewed implements ui.Previewer.
func (p *Preview) Previewed() ui.Screen { return p.screen }

// HasChild implements ui.Parent.
func (p *Preview) HasChild(s ui.Screen) bool { return s == p.screen || s == p.loading }

func (p *Preview) close() {
	for _, s := range []ui.Screen{p.screen, p.loading} {
		if s != nil {
			s.Stop()
		}
	}
	p.screen, p.loading, p.id = nil, nil, ""
}

// UpdatePreview implements ui.Previewer. While a screen fetches, others show only the data of
// the list: keys that are held down do not cause a request for each row.
func (p *Preview) UpdatePreview() tea.Cmd {
	row := p.Grid.Row()
	if p.width == 0 || row == nil {
		p.close()
		return nil
	}
	if row.ID != p.id {
		p.id, p.screen = row.ID, p.ScreenOf()
		if s, ok := p.screen.(interface{ HideCursor() }); ok {
			s.HideCursor()
		}
		p.resize()
	}
	if p.screen == nil || p.screen == p.loading || p.loading != nil && p.loading.Waiting() {
		return nil
	}
	if p.loading != nil {
		p.loading.Stop()
	}
	p.loading = p.screen
	return p.screen.Shown()
}
