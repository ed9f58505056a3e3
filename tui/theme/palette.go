package theme

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Colours is the number of colours that a terminal shows.
type Colours uint8

// The numbers of colours. With 16, the user has chosen each of them in the settings of the
// terminal; the others are fixed.
const (
	Colours16 Colours = iota
	Colours256
	TrueColour
)

// environment is the environment of a terminal for termenv.
type environment func(string) string

func (env environment) Getenv(name string) string { return env(name) }

// Environ returns no variables; termenv looks up those that it uses.
func (env environment) Environ() []string { return nil }

// ColoursFromEnv returns the colours of the terminal in COLORTERM and TERM. A terminal that
// termenv does not know has 16, as nearly all have. NO_COLOR is a setting of the programs.
func ColoursFromEnv(env func(string) string) Colours {
	withoutNoColor := environment(func(name string) string {
		if name == "NO_COLOR" {
			return ""
		}
		return env(name)
	})
	output := termenv.NewOutput(io.Discard, termenv.WithEnvironment(withoutNoColor), termenv.WithTTY(true))
	switch output.EnvColorProfile() {
	case termenv.TrueColor:
		return TrueColour
	case termenv.ANSI256:
		return Colours256
	}
	return Colours16
}

// profile returns the profile of termenv.
func (c Colours) profile() termenv.Profile {
	switch c {
	case TrueColour:
		return termenv.TrueColor
	case Colours256:
		return termenv.ANSI256
	}
	return termenv.ANSI
}

// shade is a colour in each number of colours, on a dark and on a light background.
type shade = lipgloss.CompleteAdaptiveColor

// The palette: colours by their meaning. The first six are readable on black, #1e1e1e, white and
// #fdf6e3, and on the backgrounds selection and panel.
//
// With 16 colours the terminal decides how they look. Yellow and cyan are too pale on a
// light background and are replaced there. Colour 8 is not used: some terminals show it in the
// colour of their background.
var (
	text = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#e6edf3", ANSI256: "255"},
		Light: lipgloss.CompleteColor{TrueColor: "#1f2328", ANSI256: "234"},
	}
	dim = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#a5b0bf", ANSI256: "248"},
		Light: lipgloss.CompleteColor{TrueColor: "#57606a", ANSI256: "240"},
	}
	accent = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#79c0ff", ANSI256: "117", ANSI: "6"},
		Light: lipgloss.CompleteColor{TrueColor: "#0550ae", ANSI256: "25", ANSI: "4"},
	}
	ok = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#7ee787", ANSI256: "114", ANSI: "2"},
		Light: lipgloss.CompleteColor{TrueColor: "#116329", ANSI256: "22", ANSI: "2"},
	}
	warning = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#ffc46b", ANSI256: "221", ANSI: "3"},
		Light: lipgloss.CompleteColor{TrueColor: "#7d4e00", ANSI256: "94", ANSI: "5"},
	}
	failure = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#ff8a80", ANSI256: "210", ANSI: "1"},
		Light: lipgloss.CompleteColor{TrueColor: "#a40e26", ANSI256: "124", ANSI: "1"},
	}
	selection = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#2a3b55", ANSI256: "237"},
		Light: lipgloss.CompleteColor{TrueColor: "#cfe3fb", ANSI256: "254"},
	}
	panel = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#3b2e4a", ANSI256: "53"},
		Light: lipgloss.CompleteColor{TrueColor: "#eee2fb", ANSI256: "195"},
	}
	// inverse is text on the colour of another one.
	inverse = shade{
		Dark:  lipgloss.CompleteColor{TrueColor: "#0d1117", ANSI256: "16"},
		Light: lipgloss.CompleteColor{TrueColor: "#ffffff", ANSI256: "231"},
	}
)

// The colours of profiles, which are readable under black text.
var (
	profileShades = map[Role]shade{
		profileRed:     both("#ff8a80", "210", "1"),
		profileGreen:   both("#7ee787", "114", "2"),
		profileYellow:  both("#ffc46b", "221", "3"),
		profileBlue:    both("#79c0ff", "117", "4"),
		profileMagenta: both("#e2a8ff", "183", "5"),
		profileCyan:    both("#76e3ea", "116", "6"),
	}
	black = both("#000000", "16", "0")
)

// both returns a colour that does not depend on the background.
func both(trueColour, colour256, colour16 string) shade {
	c := lipgloss.CompleteColor{TrueColor: trueColour, ANSI256: colour256, ANSI: colour16}
	return shade{Dark: c, Light: c}
}
