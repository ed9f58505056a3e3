// Package theme defines how the screens are drawn: glyphs, styles, lines, and text that
// is safe to print.
//
// Importing it also prevents bubbletea from querying the terminal for its colours at
// startup, which would delay every command by five seconds on a terminal that does not
// respond. Packages are initialized in the order of their import paths once their
// imports are ready; this package imports only packages that bubbletea imports too, and is
// therefore initialized before it.
package theme

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

func init() { lipgloss.SetHasDarkBackground(true) }

// Theme holds glyphs and styles.
type Theme struct {
	Glyphs
	border lipgloss.Border
	// styles has the parameters of an SGR sequence by role, such as "1;31"; empty for plain text.
	styles [profileCyan + 1]string
	// barIsReverse reports whether the selected row is reversed. It has one style then: a colour
	// would become the background of its cell.
	barIsReverse bool
}

// New returns the theme for a glyph set and one of Themes, with the 16 colours of all terminals.
func New(glyphs, palette string) *Theme { return NewIn(Colours16, glyphs, palette) }

// NewIn returns the theme for a number of colours, a glyph set and one of Themes. Colour profile
// and background of its renderer are set, so that lipgloss does not query the terminal.
func NewIn(colours Colours, glyphs, palette string) *Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(colours.profile())
	r.SetHasDarkBackground(palette != Light)
	t := &Theme{}
	t.Glyphs, t.border = glyphsOf(glyphs)
	t.barIsReverse = palette == Mono || colours == Colours16
	if palette == Mono {
		t.Pointer = asciiGlyphs.Pointer
		t.Mark = asciiGlyphs.Mark
	} else if glyphs != ASCII {
		t.FailedBar = ""
	}
	for _, rule := range rules(palette, colours) {
		parameters := sgrParameters(rule.style.Renderer(r))
		for _, role := range rule.roles {
			t.styles[role] = parameters
		}
	}
	return t
}

// sgrParameters returns the parameters of the SGR sequence that a style writes before a text.
func sgrParameters(style lipgloss.Style) string {
	sequence, _, _ := strings.Cut(style.Render("x"), "x")
	parameters := strings.TrimSuffix(strings.TrimPrefix(sequence, "\x1b["), "m")
	if style.GetUnderline() {
		parameters = strings.Replace(parameters, "4;4", "4", 1) // lipgloss sets it twice
	}
	return parameters
}

// Append appends text with the styles of two roles; the second overrides the first.
func (t *Theme) Append(dst []byte, base, override Role, text string) []byte {
	if text == "" {
		return dst
	}
	baseStyle, overridingStyle := t.styles[base], t.styles[override]
	if base == Selected && t.barIsReverse && override != CursorCell {
		overridingStyle = ""
	}
	if baseStyle == "" && overridingStyle == "" {
		return append(dst, text...)
	}
	dst = append(dst, "\x1b["...)
	dst = append(dst, baseStyle...)
	if baseStyle != "" && overridingStyle != "" {
		dst = append(dst, ';')
	}
	dst = append(dst, overridingStyle...)
	dst = append(dst, 'm')
	dst = append(dst, text...)
	return append(dst, Reset...)
}

// Paint returns text with the style of a role.
func (t *Theme) Paint(role Role, text string) string {
	return string(t.Append(nil, role, Plain, text))
}

// Reset is the SGR sequence that ends all styles.
const Reset = "\x1b[0m"

// Profile returns the name of a profile for the first line, on its colour if it has
// one.
func (t *Theme) Profile(name, colour string) []Span {
	role := profileRoles[colour]
	if name == "" {
		return nil
	}
	if t.styles[role] == "" {
		return []Span{{Text: strings.ToUpper(name) + "  ", Role: Accent}}
	}
	return []Span{{Text: " " + strings.ToUpper(name) + " ", Role: role}, {Text: " "}}
}

// StatusText returns the status of a message with its symbol.
func (t *Theme) StatusText(status int) (string, Role) {
	switch status {
	case 0:
		return t.NotSent + " not sent", Pending
	case 1:
		return t.OK + " delivered", Success
	case 2:
		return t.Retry + " retrying", Warning
	case 3:
		return t.Fail + " failed", Failure
	}
	return "?", Plain
}
