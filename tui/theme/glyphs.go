package theme

import "github.com/charmbracelet/lipgloss"

// Glyphs are the symbols that the screens are drawn with, each one cell wide.
type Glyphs struct {
	Ellipsis    string // after text that is truncated
	Newline     string // replaces a line break
	Tab         string // replaces a tab
	Separator   string // between frozen and scrolling columns
	Line        string // below the column titles
	Cross       string // where Separator crosses Line
	Pointer     string // at the left of the selected row
	Mark        string // before marked rows
	Up, Down    string // after the title of the sorted column
	Less, More  string // more columns to the left, to the right
	Loading     string // placeholder of rows that are being fetched
	OK          string // before the status of a delivered message
	Fail        string // before the status of a failed message
	Retry       string // before the status of a message that is retried
	NotSent     string // before the status of a message that is not sent
	Alert       string // before a number of troubles, and an endpoint that fails
	Stopped     string // before an endpoint that receives nothing
	Healthy     string // before endpoints without problems
	Tick        string // at a value of the vertical axis of a chart
	Null        string // replaces null
	Zero        string // replaces zero in a list
	Left        string // before values that have just changed
	Right       string // between the value before a change and the one after it
	Replacement string // replaces characters without a defined width
	Bars        string // chart bars, from empty to full
	FailedBar   string // bars of failures in themes without colour; otherwise empty
}

var fullGlyphs = Glyphs{
	Ellipsis:    "…",
	Newline:     "¶",
	Tab:         "»",
	Separator:   "│",
	Line:        "─",
	Cross:       "┼",
	Pointer:     "▌",
	Mark:        "●",
	Up:          "▲",
	Down:        "▼",
	Less:        "‹",
	More:        "›",
	Loading:     "·",
	OK:          "✓",
	Fail:        "✗",
	Retry:       "↻",
	NotSent:     "○",
	Alert:       "▲",
	Stopped:     "■",
	Healthy:     "●",
	Tick:        "┤",
	Null:        "–",
	Zero:        "·",
	Left:        "←",
	Right:       "→",
	Replacement: "�",
	Bars:        " ▁▂▃▄▅▆▇█",
	FailedBar:   "▒",
}

var asciiGlyphs = Glyphs{
	Ellipsis:    "~",
	Newline:     "$",
	Tab:         "|",
	Separator:   "|",
	Line:        "-",
	Cross:       "+",
	Pointer:     ">",
	Mark:        "*",
	Up:          "^",
	Down:        "v",
	Less:        "<",
	More:        ">",
	Loading:     ".",
	OK:          "+",
	Fail:        "x",
	Retry:       "~",
	NotSent:     "o",
	Alert:       "!",
	Stopped:     "#",
	Healthy:     "+",
	Tick:        "+",
	Null:        "-",
	Zero:        ".",
	Left:        "<-",
	Right:       "->",
	Replacement: "?",
	Bars:        " .:|#",
	FailedBar:   "x",
}

// glyphsOf returns the glyphs of a set and the matching box border.
func glyphsOf(set string) (Glyphs, lipgloss.Border) {
	switch set {
	case ASCII:
		return asciiGlyphs, lipgloss.ASCIIBorder()
	case Limited:
		limited := fullGlyphs
		limited.Pointer = "▌"
		limited.OK = "√"
		limited.Fail = "x"
		limited.Retry = "~"
		limited.Replacement = "?"
		limited.Bars = " ░▒▓█"
		return limited, lipgloss.NormalBorder()
	}
	return fullGlyphs, lipgloss.RoundedBorder()
}

// FullBar returns a full cell of a bar.
func (g *Glyphs) FullBar() string {
	bars := []rune(g.Bars)
	return string(bars[len(bars)-1:])
}
