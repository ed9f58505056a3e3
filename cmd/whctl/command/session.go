// Package command has the parts that the actions of commands share: session, connections,
// confirmation of changes, and results.
package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/tui/theme"
)

// Session holds the state of a run of the program: streams, clock, and the connector
// with the settings and credentials.
type Session struct {
	profile.Connector
	Stdout   io.Writer
	Terminal output.Terminal // properties of stdout
	Prompter cmdline.Prompter
	Now      func() time.Time

	CompletionTimeout time.Duration // limits the requests of a completion; 0 for no limit
}

// SessionKey is the key of the session in the app's metadata.
const SessionKey = "session"

// Change is a planned change.
type Change struct {
	Text     string // such as "delete 3 messages"
	Sweeping bool   // cannot be undone or affects many objects; needs confirmation
	Do       func(out *output.Printer, service *client.Client) error
}

// With returns the action of a command that needs the session.
func With(do func(c *cli.Context, s *Session) error) cli.ActionFunc {
	return func(c *cli.Context) error { return do(c, c.App.Metadata[SessionKey].(*Session)) }
}

// Reads returns the action of a command that reads.
func Reads(do func(c *cli.Context, out *output.Printer, service *client.Client) error) cli.ActionFunc {
	return With(func(c *cli.Context, s *Session) error {
		service, err := s.ReadClient(c)
		if err != nil {
			return err
		}
		defer service.Close()
		return do(c, s.Printer(c), service)
	})
}

// Changes returns the action of a command that changes something. It plans the
// change before it prompts for confirmation.
func Changes(plan func(c *cli.Context, s *Session) (Change, error)) cli.ActionFunc {
	return With(func(c *cli.Context, s *Session) error {
		planned, err := plan(c, s)
		if err != nil {
			return err
		}
		s.DryRunReads = true // to look up the objects by name
		service, err := s.connectToChange(c, planned)
		if err != nil {
			return err
		}
		defer service.Close()
		err = planned.Do(s.Printer(c), service)
		if s.DryRuns > 0 {
			requests := display.Count(s.DryRuns, "request", "requests")
			s.Notice(c, "dry run, nothing was changed: %s (%s)", client.Redact(planned.Text), requests)
		}
		return err
	})
}

// connectToChange returns a client for a command that changes something, after
// confirmation. The client of a read-only profile refuses changes.
func (s *Session) connectToChange(c *cli.Context, planned Change) (*client.Client, error) {
	in, err := s.Settings(c)
	if err != nil {
		return nil, err
	}
	if !in.Bool("read_only") && !c.Bool(profile.DryRunFlag) {
		if err := s.Confirm(c, in, planned); err != nil {
			return nil, err
		}
	}
	return s.Client(c, in.Bool("read_only"))
}

// Printer returns a printer for a command.
func (s *Session) Printer(c *cli.Context) *output.Printer {
	return &output.Printer{
		Context:  c,
		Stdout:   s.Stdout,
		Terminal: s.Terminal,
		Screen:   s.screen(c),
		Notice:   func(format string, args ...any) { s.Notice(c, format, args...) },
		Preset: func() (string, error) {
			in, err := s.Settings(c)
			if err != nil {
				return "", err
			}
			return in.Text("format"), nil
		},
	}
}

// screen returns the properties of the terminal that tables depend on. Mistakes in the
// settings are reported by the command.
func (s *Session) screen(c *cli.Context) output.Screen {
	screen := output.Screen{Now: s.Now(), Zone: time.Local, Full: c.Bool("full")}
	glyphs := theme.GlyphSet(runtime.GOOS, s.Env)
	if s.Env(profile.EnvASCII) != "" {
		glyphs = theme.ASCII
	}
	palette := theme.Auto
	if in, err := s.Settings(c); err == nil {
		screen.Zone = in.Zone()
		palette = strings.ToLower(in.Text("theme"))
	}
	if palette == theme.Auto {
		palette = cmp.Or(theme.ThemeFromEnv(s.Env), theme.Dark)
	}
	isLegacyConsole := glyphs == theme.Limited // of Windows
	if isLegacyConsole || !s.coloured(c, s.Terminal.Colours) {
		screen.Theme = &theme.Theme{Glyphs: theme.New(glyphs, theme.Mono).Glyphs}
		return screen
	}
	screen.Theme = theme.New(glyphs, palette)
	return screen
}

// Today returns the current time in the zone of the settings.
func (s *Session) Today(c *cli.Context) (time.Time, error) {
	in, err := s.Settings(c)
	if err != nil {
		return time.Time{}, err
	}
	return s.Now().In(in.Zone()), nil
}

// MayPrompt reports whether prompts are possible and allowed.
func (s *Session) MayPrompt(c *cli.Context) bool {
	return s.Prompter.Keyboard != nil && !c.Bool("no-input")
}

// ChangeFlags returns the flags of all commands that change something.
func ChangeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "skip confirmation"},
		&cli.StringFlag{Name: "confirm", Usage: "confirm a change with the `NAME` of the protected profile"},
	}
}

// NewFlags returns the flags of commands that create something and print its ID.
func NewFlags(others ...cli.Flag) []cli.Flag {
	return ResultFlags("print the created object as JSON instead of its ID", others...)
}

// ResultFlags returns the flags of commands that change something and print a result,
// with the meaning of --json.
func ResultFlags(json string, others ...cli.Flag) []cli.Flag {
	jsonFlag := &cli.BoolFlag{Name: "json", Usage: json}
	return slices.Concat(others, []cli.Flag{jsonFlag}, ChangeFlags())
}

// Confirm prompts for the name of a protected profile, or for a yes to a sweeping
// change. If it cannot prompt, --confirm or --yes must be set.
func (s *Session) Confirm(c *cli.Context, in *profile.Settings, planned Change) error {
	if in.Bool("protected") {
		return s.confirmByName(c, in, planned)
	}
	if !planned.Sweeping || c.Bool("yes") {
		return nil
	}
	if !s.MayPrompt(c) {
		return &UnconfirmedError{message: fmt.Sprintf("refused to %s without --yes", planned.Text)}
	}
	return s.promptYes(c, s.painted(c, in)+": "+display.Sanitize(planned.Text))
}

// PromptYes prompts for a yes to a question, without the question mark. Any other answer is an error.
func (s *Session) PromptYes(c *cli.Context, question string) error {
	return s.promptYes(c, display.Sanitize(question))
}

// promptYes is PromptYes for a sanitized question.
func (s *Session) promptYes(c *cli.Context, question string) error {
	answer, err := s.Prompter.ReadLine(c.Context, question+"? [y/N] ")
	if err != nil {
		return err
	}
	answer = strings.ToLower(answer)
	if answer != "y" && answer != "yes" {
		return &UnconfirmedError{message: "cancelled; nothing was changed"}
	}
	return nil
}

// confirmByName prompts for the name of a protected profile. In a script, --confirm
// has the name, and a sweeping change needs --yes too.
func (s *Session) confirmByName(c *cli.Context, in *profile.Settings, planned Change) error {
	typed := c.String("confirm")
	if typed == "" {
		var err error
		typed, err = s.promptForName(c, in, planned)
		if err != nil {
			return err
		}
	} else if planned.Sweeping && !c.Bool("yes") {
		return &UnconfirmedError{message: fmt.Sprintf("refused to %s without --yes", planned.Text)}
	}
	if typed != in.Profile {
		return &UnconfirmedError{message: fmt.Sprintf(
			"nothing was changed: the profile is %s, not %q", in.Profile, typed)}
	}
	return nil
}

// promptForName returns the name of a profile that the user types.
func (s *Session) promptForName(
	c *cli.Context, in *profile.Settings, planned Change,
) (string, error) {
	if !s.MayPrompt(c) {
		return "", &UnconfirmedError{message: fmt.Sprintf(
			"profile %s is protected: refused to %s without --confirm %s",
			in.Profile, planned.Text, in.Profile)}
	}
	question := fmt.Sprintf("Profile %s is protected. To %s, type its name: ",
		s.painted(c, in), display.Sanitize(planned.Text))
	return s.Prompter.ReadLine(c.Context, question)
}

// painted returns the name of the profile for a prompt, in its colour.
func (s *Session) painted(c *cli.Context, in *profile.Settings) string {
	code := profile.Colours[strings.ToLower(in.Text("colour"))]
	if code == 0 || !s.InColour(c) {
		return in.Name()
	}
	return fmt.Sprintf("\x1b[1;%dm%s\x1b[0m", code, in.Name())
}

// InColour reports whether prompts may have colours.
func (s *Session) InColour(c *cli.Context) bool { return s.coloured(c, s.Prompter.Colours) }

// coloured reports whether a terminal may show colours. able is false if it is none.
func (s *Session) coloured(c *cli.Context, able bool) bool {
	if c.Bool("no-color") || s.Env("NO_COLOR") != "" {
		return false
	}
	forced := s.Env("CLICOLOR_FORCE")
	if forced != "" && forced != "0" {
		return true
	}
	return able && s.Env("TERM") != "dumb" && s.Env("CLICOLOR") != "0"
}

// HasInput reports whether standard input is a pipe with data. It does not wait for any, and reads
// nothing: the data can be meant for another program.
func (s *Session) HasInput() bool {
	file, ok := s.Stdin.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0 && hasData(file)
}
