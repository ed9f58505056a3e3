// Package theme is how the screens look: glyphs, colours, lines that are drawn
// in them, and text made fit for a terminal.
//
// Its import also keeps bubbletea from asking the terminal for its colours while
// the program starts: one that does not answer would stall every command for
// five seconds. Packages are initialised in the order of their import paths once
// what they import is ready, so that this one, which imports nothing that
// bubbletea does not import too, comes before it.
package theme

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

func init() { lipgloss.SetHasDarkBackground(true) }

// Theme is how everything looks. This is the only file with colours: the 16 of
// every terminal, on whatever background it has.
type Theme struct {
	Look
	mono                                    bool
	corner, side, bar                       string // of boxes
	dot, Good, again, Bad, Left, Step, Bars string
	FailedBar                               string // of what has failed, where no colour tells it; else empty

	JsonName, JsonText, JsonValue Ink

	Brand, Dim, Crumb, Chip, Tab, Key, Accent, Label, boxed, Typed Ink
	Live, Waiting, Offline                                         Ink
	Status                                                         [4]Ink // of messages, by Status
	Toast                                                          [3]Ink // by level
}

// New makes one of a set of signs and a palette of Themes.
func New(signs, palette string) *Theme {
	t := &Theme{mono: palette == Mono}
	t.draw(signs)
	t.weigh()
	switch palette {
	case Mono:
	case Light:
		t.colour()
		t.lighten()
	default:
		t.colour()
	}
	return t
}

// draw sets the signs.
func (t *Theme) draw(signs string) {
	t.again, t.Bad = "~", "x"
	if t.mono {
		t.FailedBar = "▒"
	}
	switch signs {
	case ASCII:
		t.Glyphs = asciiGlyphs
		t.corner, t.side, t.bar, t.Step, t.Bars, t.FailedBar = "++++", "|", "-", " > ", " .:-=+*#%", "x"
		t.dot, t.Good, t.Left = ".", "+", "<-"
	case Limited:
		t.Glyphs = limitedGlyphs
		t.corner, t.side, t.bar, t.Step, t.Bars = "┌┐└┘", "│", "─", " › ", " ▄█"
		t.dot, t.Good, t.Left = "·", "√", "←"
	default:
		t.Glyphs = fullGlyphs
		t.corner, t.side, t.bar, t.Step, t.Bars = "╭╮╰╯", "│", "─", " › ", " ▁▂▃▄▅▆▇█"
		t.dot, t.Good, t.Left = "·", "✓", "←"
	}
}

var fullGlyphs = Glyphs{
	Cut: "…", Newline: "¶", Tab: "»", Fence: "│", Line: "─", Cross: "┼", Pointer: "▸", Mark: "●",
	Up: "▲", Down: "▼", Less: "‹", More: "›", Loading: "·", Nothing: "-", Replacement: "�",
}

var limitedGlyphs = Glyphs{
	Cut: "…", Newline: "¶", Tab: "»", Fence: "│", Line: "─", Cross: "┼", Pointer: "►", Mark: "●",
	Up: "▲", Down: "▼", Less: "‹", More: "›", Loading: "·", Nothing: "-", Replacement: "?",
}

var asciiGlyphs = Glyphs{
	Cut: "~", Newline: "$", Tab: "|", Fence: "|", Line: "-", Cross: "+", Pointer: ">", Mark: "*",
	Up: "^", Down: "v", Less: "<", More: ">", Loading: ".", Nothing: "-", Replacement: "?",
}

// weigh sets what works without colours: nothing is told by colour alone.
func (t *Theme) weigh() {
	t.Title, t.Selected, t.Cursor, t.Marked, t.Wait = "1", "1", "7", "", "2"
	t.Brand, t.Crumb, t.Tab, t.Key, t.boxed, t.Typed = "1", "1", "7", "1", "", "4"
	t.Live, t.Waiting, t.Offline = "1", "1", "7"
	t.Toast = [3]Ink{"", "1", "7"}
}

// colour adds colours to that.
func (t *Theme) colour() {
	t.Rule, t.Null, t.Wait, t.Dim, t.Label = "90", "90", "90", "90", "90"
	t.Title, t.Marked = "1;36", "36"
	t.Brand, t.Chip, t.Key, t.Accent, t.boxed = "1;36", "35", "36", "36", "36"
	t.Live, t.Waiting, t.Offline = "1;32", "1;33", "1;37;41"
	t.JsonName, t.JsonText, t.JsonValue = "36", "32", "33"
	t.Status = [4]Ink{"90", "32", "33", "31"}
	t.Toast = [3]Ink{"32", "33", "31"}
}

// lighten puts darker colours where those of colour are too pale for a light
// background: yellow and cyan.
func (t *Theme) lighten() {
	t.Title, t.Marked = "1;34", "34"
	t.Brand, t.Key, t.Accent, t.boxed = "1;34", "34", "34", "34"
	t.Waiting, t.Status[2], t.Toast[1] = "1;35", "35", "35"
	t.JsonName, t.JsonValue = "34", "35"
}

// profileInks are the colours that a profile can have.
var profileInks = map[string]Ink{"red": "1;37;41", "green": "30;42", "yellow": "30;43", "blue": "1;37;44", "magenta": "1;37;45", "cyan": "30;46"}

// Profile is a profile's name on the first line: a band in its colour, where it
// has one.
func (t *Theme) Profile(name, colour string) []Span {
	ink, known := profileInks[colour]
	switch {
	case name == "":
		return nil
	case !known || t.mono:
		return []Span{{strings.ToUpper(name) + "  ", t.Accent}}
	}
	return []Span{{" " + strings.ToUpper(name) + " ", ink}, {" ", ""}}
}

// The words for the status of a message.
var statusWords = [4]string{"WAIT", "OK", "RETRY", "FAIL"}

// StatusText is a message's status with its sign.
func (t *Theme) StatusText(status int) (string, Ink) {
	if status < 0 || status >= len(statusWords) {
		return "?", ""
	}
	sign := [4]string{t.dot, t.Good, t.again, t.Bad}[status]
	return sign + " " + statusWords[status], t.Status[status]
}
