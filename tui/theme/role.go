package theme

import (
	"slices"

	"github.com/charmbracelet/lipgloss"
)

// Role is the purpose of a text on the screen; it determines the style.
type Role uint8

// The roles. Plain has no style.
const (
	Plain Role = iota

	Title      // of a section
	Column     // title of a column
	Rule       // line between parts of the screen
	Selected   // row or choice
	Cursor     // in a text
	CursorCell // in the selected row
	Marked     // row
	Null       // null value
	Faded      // loading, out of date, or without focus

	JSONName
	JSONText
	JSONValue

	Brand // the program's name
	Dim   // less important text
	Breadcrumb
	Badge // filter of the rows
	Tab   // the open tab
	Key   // key name
	Accent
	Label
	Frame // of a box, and of the panel with the focus
	Match // search match

	Live // connection states
	Waiting
	Offline

	Pending // message status, in the order of the status numbers; also used elsewhere
	Success
	Warning
	Failure

	ToastInfo // in the order of ui.Level
	ToastWarning
	ToastFailure

	profileRed // profile colours
	profileGreen
	profileYellow
	profileBlue
	profileMagenta
	profileCyan
)

// profileRoles maps the colours of profiles to their roles.
var profileRoles = map[string]Role{
	"red":     profileRed,
	"green":   profileGreen,
	"yellow":  profileYellow,
	"blue":    profileBlue,
	"magenta": profileMagenta,
	"cyan":    profileCyan,
}

var (
	base = lipgloss.NewStyle()
	bold = base.Bold(true)
)

// styleRule sets the style of roles. Later rules override earlier ones.
type styleRule struct {
	style lipgloss.Style
	roles []Role
}

// monoRules are the styles without colours, colourRules those with any number of them;
// colour16Rules and paletteRules complete them for 16 and for more colours. No information is
// conveyed by colour alone.
var (
	monoRules = []styleRule{
		{bold, []Role{Title, Column, Marked, Brand, Breadcrumb, Key, Live, Waiting, ToastWarning}},
		{base.Reverse(true), []Role{Selected, Cursor, Tab, Offline, ToastFailure}},
		{bold.Underline(true), []Role{CursorCell}},
		{base.Underline(true), []Role{Match}},
		{base.Faint(true), []Role{Faded}},
	}
	colourRules = []styleRule{
		{fg(accent), []Role{JSONName, Key, Accent, Badge, Frame}},
		{fg(ok), []Role{JSONText, Success, ToastInfo}},
		{fg(warning), []Role{JSONValue, Warning, ToastWarning}},
		{fg(failure), []Role{Failure, ToastFailure}},
		{fg(accent).Bold(true), []Role{Title, Brand}},
		{fg(ok).Bold(true), []Role{Live}},
		{fg(warning).Bold(true), []Role{Waiting}},
		{fg(failure).Bold(true).Reverse(true), []Role{Offline}}, // as readable as red text
	}
	colour16Rules = []styleRule{
		{base.Faint(true), []Role{Rule, Null, Faded, Dim, Label, Pending}},
		{fg(accent).Bold(true), []Role{Marked}},
	}
	paletteRules = []styleRule{
		{fg(dim), []Role{Rule, Null, Faded, Dim, Label, Pending}},
		{fg(dim).Bold(true), []Role{Column}},
		{fg(text).Background(selection), []Role{Selected}},
		{fg(text).Background(panel), []Role{Marked}},
		{fg(inverse).Background(accent).Bold(true), []Role{Tab, CursorCell}},
	}
)

func fg(c shade) lipgloss.Style { return base.Foreground(c) }

// rules returns the rules of a theme.
func rules(palette string, colours Colours) []styleRule {
	if palette == Mono {
		return monoRules
	}
	list := slices.Concat(monoRules, colourRules)
	if colours == Colours16 {
		list = append(list, colour16Rules...)
	} else {
		list = append(list, paletteRules...)
	}
	for role, shade := range profileShades {
		style := fg(shade).Bold(true).Reverse(true) // the terminal's background is under its text
		if colours != Colours16 {
			style = fg(black).Background(shade)
		}
		list = append(list, styleRule{style: style, roles: []Role{role}})
	}
	return list
}
