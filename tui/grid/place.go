package grid

import (
	"fmt"

	"github.com/bizhook/whd/tui/theme"
)

// Place says which row is selected and which columns are seen.
func (g *Grid) Place() string {
	if g.rows.Len() == 0 {
		return "no rows"
	}
	text := fmt.Sprintf("row %s of %s", theme.Thousands(g.at+1), theme.Thousands(g.rows.Len()))
	if g.lines || len(g.columns) == 0 {
		return text
	}
	first, last := g.scrolled()
	if first > last {
		return text
	}
	less, more := "", ""
	if first > g.frozen {
		less = g.look.Less + " "
	}
	if last < len(g.columns)-1 {
		more = " " + g.look.More
	}
	return text + fmt.Sprintf("   %scols %d-%d of %d%s", less, first+1, last+1, len(g.columns), more)
}

// scrolled is the first and the last column that are seen beside the frozen
// ones, or of all where none scrolls.
func (g *Grid) scrolled() (first, last int) {
	first, last = len(g.columns), -1
	for _, p := range g.layout {
		if p.column >= g.frozen || !g.fenced() {
			first, last = min(first, p.column), max(last, p.column)
		}
	}
	if first == g.frozen {
		first = 0
	}
	return first, last
}

// Whole reports whether all columns are seen from end to end.
func (g *Grid) Whole() bool {
	return len(g.layout) == len(g.columns) && (len(g.layout) == 0 || !g.layout[len(g.layout)-1].cut)
}
