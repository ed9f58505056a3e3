// Package theme is how the screens look: glyphs, styles, lines that are drawn
// in them, and text made fit for a terminal.
//
// Its import also keeps bubbletea from asking the terminal for its colours while
// the program starts: one that does not answer would stall every command for
// five seconds. Packages are initialised in the order of their import paths once
// what they import is ready, so that this one, which imports nothing that
// bubbletea does not import too, comes before it.
package theme

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

func init() { lipgloss.SetHasDarkBackground(true) }

// Theme is how everything looks.
type Theme struct {
	Glyphs
	border lipgloss.Border
	styles [profileCyan + 1]string // by role: the parameters of an SGR sequence, such as "1;31"; empty is plain
}

// New makes the theme of a set of glyphs and a palette of Themes. Its renderer
// is given the colours and the background, so that it asks the terminal nothing.
func New(glyphs, palette string) *Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	r.SetHasDarkBackground(palette != Light)
	t := &Theme{}
	if t.Glyphs, t.border = glyphsOf(glyphs); palette != Mono && glyphs != ASCII {
		t.FailedBar = ""
	}
	rules := monoRules
	if palette != Mono {
		rules = slices.Concat(monoRules, colourRules)
	}
	for _, rule := range rules {
		before, _, _ := strings.Cut(rule.style.Renderer(r).Render("x"), "x")
		parameters := strings.Split(strings.TrimSuffix(strings.TrimPrefix(before, "\x1b["), "m"), ";")
		for _, role := range rule.roles {
			t.styles[role] = strings.Join(slices.Compact(parameters), ";") // lipgloss underlines twice
		}
	}
	return t
}

// Append appends text in the styles of two roles, the second of which wins.
func (t *Theme) Append(dst []byte, under, over Role, text string) []byte {
	a, b := t.styles[under], t.styles[over]
	switch {
	case text == "":
		return dst
	case a == "" && b == "":
		return append(dst, text...)
	}
	dst = append(dst, "\x1b["...)
	dst = append(dst, a...)
	if a != "" && b != "" {
		dst = append(dst, ';')
	}
	dst = append(dst, b...)
	dst = append(dst, 'm')
	dst = append(dst, text...)
	return append(dst, Reset...)
}

// Paint is text in the style of a role.
func (t *Theme) Paint(role Role, text string) string {
	return string(t.Append(nil, role, Plain, text))
}

// Reset ends any style.
const Reset = "\x1b[0m"

// Profile is a profile's name on the first line: a band in its colour, where it
// has one.
func (t *Theme) Profile(name, colour string) []Span {
	role := profileRoles[colour]
	switch {
	case name == "":
		return nil
	case t.styles[role] == "":
		return []Span{{strings.ToUpper(name) + "  ", Accent}}
	}
	return []Span{{" " + strings.ToUpper(name) + " ", role}, {Text: " "}}
}

// StatusText is the status of a message, with its sign.
func (t *Theme) StatusText(status int) (string, Role) {
	if status < 0 || status > 3 {
		return "?", Plain
	}
	return [...]string{t.Loading + " WAIT", t.OK + " OK", "~ RETRY", FailGlyph + " FAIL"}[status], Pending + Role(status)
}
