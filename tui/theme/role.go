package theme

import "github.com/charmbracelet/lipgloss"

// Role is the purpose of a text on the screen; it determines the style.
type Role uint8

// The roles. Plain has no style.
const (
	Plain Role = iota

	Title    // of a column
	Rule     // line between parts of the screen
	Selected // row or choice
	Cursor
	Marked // row
	Null   // null value
	Faded  // loading, out of date, or without focus

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
	Frame // of a box
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

// The palette is the 16 ANSI colours. Yellow and cyan are too pale on a light
// background and are replaced there.
const (
	black   lipgloss.Color = "0"
	red     lipgloss.Color = "1"
	green   lipgloss.Color = "2"
	magenta lipgloss.Color = "5"
	white   lipgloss.Color = "7"
	grey    lipgloss.Color = "8"
)

var (
	cyan   = lipgloss.AdaptiveColor{Dark: "6", Light: "4"}
	yellow = lipgloss.AdaptiveColor{Dark: "3", Light: "5"}

	base = lipgloss.NewStyle()
	bold = base.Bold(true)
)

// styleRule sets the style of roles. Later rules override earlier ones.
type styleRule struct {
	style lipgloss.Style
	roles []Role
}

// monoRules are the styles without colours; colourRules override them in coloured
// themes. No information is conveyed by colour alone.
var (
	monoRules = []styleRule{
		{bold, []Role{Title, Selected, Brand, Breadcrumb, Key, Live, Waiting, ToastWarning}},
		{base.Reverse(true), []Role{Cursor, Tab, Offline, ToastFailure}},
		{base.Underline(true), []Role{Match}},
		{base.Faint(true), []Role{Faded}},
	}
	colourRules = []styleRule{
		{base.Foreground(grey), []Role{Rule, Null, Faded, Dim, Label, Pending}},
		{base.Foreground(cyan), []Role{Marked, JSONName, Key, Accent, Frame}},
		{base.Foreground(green), []Role{JSONText, Success, ToastInfo}},
		{base.Foreground(yellow), []Role{JSONValue, Warning, ToastWarning}},
		{base.Foreground(red), []Role{Failure, ToastFailure}},
		{base.Foreground(magenta), []Role{Badge}},
		{bold.Foreground(cyan), []Role{Title, Brand}},
		{bold.Foreground(green), []Role{Live}},
		{bold.Foreground(yellow), []Role{Waiting}},
		{bold.Foreground(red).Reverse(true), []Role{Offline, profileRed}}, // as readable as red text
		{bold.Foreground(white).Background(lipgloss.Color("4")), []Role{profileBlue}},
		{bold.Foreground(magenta).Reverse(true), []Role{profileMagenta}},
		{bold.Foreground(green).Reverse(true), []Role{profileGreen}},
		{base.Foreground(black).Background(lipgloss.Color("3")), []Role{profileYellow}},
		{base.Foreground(black).Background(lipgloss.Color("6")), []Role{profileCyan}},
	}
)
