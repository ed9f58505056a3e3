package theme

import "github.com/charmbracelet/lipgloss"

// Role is what a text is on the screen, which decides its style.
type Role uint8

// The roles. Plain text has no style.
const (
	Plain Role = iota

	Title    // of a column
	Rule     // line between parts of the screen
	Selected // row or choice
	Cursor
	Marked // row
	Null   // no value
	Faded  // not there yet, or not up to date

	JSONName
	JSONText
	JSONValue

	Brand // the program's name
	Dim   // what matters less
	Breadcrumb
	Badge // what limits the rows
	Tab   // the open one
	Key   // on the keyboard
	Accent
	Label
	Frame // of a box
	Match // what is searched for

	Live // states of the connection
	Waiting
	Offline

	Pending // states of a message, in the order of their numbers, and of others
	Success
	Warning
	Failure

	ToastInfo // in the order of their levels
	ToastWarning
	ToastFailure

	profileRed // colours of profiles
	profileGreen
	profileYellow
	profileBlue
	profileMagenta
	profileCyan
)

// profileRoles are the colours that a profile can have.
var profileRoles = map[string]Role{
	"red": profileRed, "green": profileGreen, "yellow": profileYellow, "blue": profileBlue, "magenta": profileMagenta, "cyan": profileCyan,
}

// The colours are the 16 of every terminal. Yellow and cyan are too pale for a
// light background.
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

// styleRule gives roles a style, in place of that of an earlier rule.
type styleRule struct {
	style lipgloss.Style
	roles []Role
}

// monoRules are the styles without colours, colourRules what colours change of
// them: nothing is shown by colour alone. A role without a rule is plain.
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
		{bold.Foreground(white).Background(red), []Role{Offline, profileRed}},
		{bold.Foreground(white).Background(lipgloss.Color("4")), []Role{profileBlue}},
		{bold.Foreground(white).Background(magenta), []Role{profileMagenta}},
		{base.Foreground(black).Background(green), []Role{profileGreen}},
		{base.Foreground(black).Background(lipgloss.Color("3")), []Role{profileYellow}},
		{base.Foreground(black).Background(lipgloss.Color("6")), []Role{profileCyan}},
	}
)
