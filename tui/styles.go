package tui

import (
	"strings"

	"github.com/bizhook/whd/tui/grid"
)

// theme is how everything looks. This is the only file with colours: the 16 of
// every terminal, on whatever background it has.
type theme struct {
	grid.Look
	mono                                    bool
	corner, side, bar                       string // of boxes
	dot, good, again, bad, left, step, bars string
	failedBar                               string // of what has failed, where no colour tells it; else empty

	jsonName, jsonText, jsonValue grid.Ink

	brand, dim, crumb, chip, tab, key, accent, label, boxed, typed grid.Ink
	live, waiting, offline                                         grid.Ink
	status                                                         [4]grid.Ink // of messages, by Status
	toast                                                          [3]grid.Ink // by level
}

// newTheme makes one of a set of signs and a palette of Themes.
func newTheme(signs, palette string) *theme {
	t := &theme{mono: palette == Mono}
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
func (t *theme) draw(signs string) {
	t.again, t.bad = "~", "x"
	if t.mono {
		t.failedBar = "▒"
	}
	switch signs {
	case asciiSigns:
		t.Glyphs = asciiGlyphs
		t.corner, t.side, t.bar, t.step, t.bars, t.failedBar = "++++", "|", "-", " > ", " .:-=+*#%", "x"
		t.dot, t.good, t.left = ".", "+", "<-"
	case limitedSigns:
		t.Glyphs = limitedGlyphs
		t.corner, t.side, t.bar, t.step, t.bars = "┌┐└┘", "│", "─", " › ", " ▄█"
		t.dot, t.good, t.left = "·", "√", "←"
	default:
		t.Glyphs = fullGlyphs
		t.corner, t.side, t.bar, t.step, t.bars = "╭╮╰╯", "│", "─", " › ", " ▁▂▃▄▅▆▇█"
		t.dot, t.good, t.left = "·", "✓", "←"
	}
}

var fullGlyphs = grid.Glyphs{
	Cut: "…", Newline: "¶", Tab: "»", Fence: "│", Line: "─", Cross: "┼", Pointer: "▸", Mark: "●",
	Up: "▲", Down: "▼", Less: "‹", More: "›", Loading: "·", Nothing: "-", Replacement: "�",
}

var limitedGlyphs = grid.Glyphs{
	Cut: "…", Newline: "¶", Tab: "»", Fence: "│", Line: "─", Cross: "┼", Pointer: "►", Mark: "●",
	Up: "▲", Down: "▼", Less: "‹", More: "›", Loading: "·", Nothing: "-", Replacement: "?",
}

var asciiGlyphs = grid.Glyphs{
	Cut: "~", Newline: "$", Tab: "|", Fence: "|", Line: "-", Cross: "+", Pointer: ">", Mark: "*",
	Up: "^", Down: "v", Less: "<", More: ">", Loading: ".", Nothing: "-", Replacement: "?",
}

// weigh sets what works without colours: nothing is told by colour alone.
func (t *theme) weigh() {
	t.Title, t.Selected, t.Cursor, t.Marked, t.Wait = "1", "1", "7", "", "2"
	t.brand, t.crumb, t.tab, t.key, t.boxed, t.typed = "1", "1", "7", "1", "", "4"
	t.live, t.waiting, t.offline = "1", "1", "7"
	t.toast = [3]grid.Ink{"", "1", "7"}
}

// colour adds colours to that.
func (t *theme) colour() {
	t.Rule, t.Null, t.Wait, t.dim, t.label = "90", "90", "90", "90", "90"
	t.Title, t.Marked = "1;36", "36"
	t.brand, t.chip, t.key, t.accent, t.boxed = "1;36", "35", "36", "36", "36"
	t.live, t.waiting, t.offline = "1;32", "1;33", "1;37;41"
	t.jsonName, t.jsonText, t.jsonValue = "36", "32", "33"
	t.status = [4]grid.Ink{"90", "32", "33", "31"}
	t.toast = [3]grid.Ink{"32", "33", "31"}
}

// lighten puts darker colours where those of colour are too pale for a light
// background: yellow and cyan.
func (t *theme) lighten() {
	t.Title, t.Marked = "1;34", "34"
	t.brand, t.key, t.accent, t.boxed = "1;34", "34", "34", "34"
	t.waiting, t.status[2], t.toast[1] = "1;35", "35", "35"
	t.jsonName, t.jsonValue = "34", "35"
}

// profileInks are the colours that a profile can have.
var profileInks = map[string]grid.Ink{"red": "1;37;41", "green": "30;42", "yellow": "30;43", "blue": "1;37;44", "magenta": "1;37;45", "cyan": "30;46"}

// profile is a profile's name on the first line: a band in its colour, where it
// has one.
func (t *theme) profile(name, colour string) []span {
	ink, known := profileInks[colour]
	switch {
	case name == "":
		return nil
	case !known || t.mono:
		return []span{{strings.ToUpper(name) + "  ", t.accent}}
	}
	return []span{{" " + strings.ToUpper(name) + " ", ink}, {" ", ""}}
}

// The words for the status of a message.
var statusWords = [4]string{"WAIT", "OK", "RETRY", "FAIL"}

// statusText is a message's status with its sign.
func (t *theme) statusText(status int) (string, grid.Ink) {
	if status < 0 || status >= len(statusWords) {
		return "?", ""
	}
	sign := [4]string{t.dot, t.good, t.again, t.bad}[status]
	return sign + " " + statusWords[status], t.status[status]
}
