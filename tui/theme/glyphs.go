package theme

import "github.com/charmbracelet/lipgloss"

// Glyphs are the signs that stand for something, each one cell wide.
type Glyphs struct {
	Ellipsis    string // behind text that is longer than its column
	Newline     string // in place of a line break
	Tab         string
	Separator   string // between the columns that stay and those that scroll
	Line        string // below the titles
	Cross       string // where the fence meets the rule
	Pointer     string // before the selected row
	Mark        string // before marked rows
	Up, Down    string // behind the title of the column that is sorted
	Less, More  string // columns to the left, to the right
	Loading     string // in rows that are on their way
	OK          string // before what succeeded
	Left        string // what has changed just now
	Replacement string // for what no terminal shows in a known width
	Bars        string // of charts, from empty to full
	FailedBar   string // of what has failed, where no colour shows it; else empty
}

// Signs that are the same in every set.
const (
	NullText  = "-" // in place of no value
	FailGlyph = "x" // before what failed
)

var fullGlyphs = Glyphs{
	Ellipsis: "…", Newline: "¶", Tab: "»", Separator: "│", Line: "─", Cross: "┼", Pointer: "▸", Mark: "●", Up: "▲", Down: "▼", Less: "‹", More: "›",
	Loading: "·", OK: "✓", Left: "←", Replacement: "�", Bars: " ▁▂▃▄▅▆▇█", FailedBar: "▒",
}

var asciiGlyphs = Glyphs{
	Ellipsis: "~", Newline: "$", Tab: "|", Separator: "|", Line: "-", Cross: "+", Pointer: ">", Mark: "*", Up: "^", Down: "v", Less: "<", More: ">",
	Loading: ".", OK: "+", Left: "<-", Replacement: "?", Bars: " .:-=+*#%", FailedBar: "x",
}

// glyphsOf are the glyphs of a set, and the border of boxes that goes with them.
func glyphsOf(set string) (Glyphs, lipgloss.Border) {
	switch set {
	case ASCII:
		return asciiGlyphs, lipgloss.ASCIIBorder()
	case Limited:
		limited := fullGlyphs
		limited.Pointer, limited.OK, limited.Replacement, limited.Bars = "►", "√", "?", " ▄█"
		return limited, lipgloss.NormalBorder()
	}
	return fullGlyphs, lipgloss.RoundedBorder()
}
