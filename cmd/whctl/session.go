package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// session holds the state of a run of the program: streams, clock, and the connector
// with the settings and credentials.
type session struct {
	profile.Connector
	stdout   io.Writer
	terminal output.Terminal // properties of stdout
	prompter cmdline.Prompter
	now      func() time.Time
}

// sessionKey is the key of the session in the app's metadata.
const sessionKey = "session"

// change is a planned change.
type change struct {
	text     string // such as "delete 3 messages"
	sweeping bool   // cannot be undone or affects many objects; needs confirmation
	do       func(out *output.Printer, service *client.Client) error
}

// with returns the action of a command that needs the session.
func with(do func(c *cli.Context, s *session) error) cli.ActionFunc {
	return func(c *cli.Context) error { return do(c, c.App.Metadata[sessionKey].(*session)) }
}

// reads returns the action of a command that reads.
func reads(do func(c *cli.Context, out *output.Printer, service *client.Client) error) cli.ActionFunc {
	return with(func(c *cli.Context, s *session) error {
		service, err := s.ReadClient(c)
		if err != nil {
			return err
		}
		defer service.Close()
		return do(c, s.printer(c), service)
	})
}

// changes returns the action of a command that changes something. It plans the
// change before it prompts for confirmation.
func changes(plan func(c *cli.Context, s *session) (change, error)) cli.ActionFunc {
	return with(func(c *cli.Context, s *session) error {
		planned, err := plan(c, s)
		if err != nil {
			return err
		}
		service, err := s.connectToChange(c, planned)
		if err != nil {
			return err
		}
		defer service.Close()
		return planned.do(s.printer(c), service)
	})
}

// connectToChange returns a client for a command that changes something, after
// confirmation. The client of a read-only profile refuses changes.
func (s *session) connectToChange(c *cli.Context, planned change) (*client.Client, error) {
	in, err := s.Settings(c)
	if err != nil {
		return nil, err
	}
	if !in.Bool("read_only") && !c.Bool(profile.DryRunFlag) {
		if err := s.confirm(c, in, planned); err != nil {
			return nil, err
		}
	}
	return s.Client(c, in.Bool("read_only"))
}

// printer returns a printer for a command.
func (s *session) printer(c *cli.Context) *output.Printer {
	return &output.Printer{
		Context: c, Stdout: s.stdout, Terminal: s.terminal,
		Notice: func(format string, args ...any) { s.Notice(c, format, args...) },
		Preset: func() (string, error) {
			in, err := s.Settings(c)
			if err != nil {
				return "", err
			}
			return in.Text("format"), nil
		},
	}
}

// today returns the current time in the zone of the settings.
func (s *session) today(c *cli.Context) (time.Time, error) {
	in, err := s.Settings(c)
	if err != nil {
		return time.Time{}, err
	}
	return s.now().In(in.Zone()), nil
}

// mayPrompt reports whether prompts are possible and allowed.
func (s *session) mayPrompt(c *cli.Context) bool {
	return s.prompter.Keyboard != nil && !c.Bool("no-input")
}

// changeFlags returns the flags of all commands that change something.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "skip confirmation"},
		&cli.StringFlag{Name: "confirm", Usage: "confirm a change with the `NAME` of the protected profile"},
	}
}

// newFlags returns the flags of commands that create something and print its ID.
func newFlags(others ...cli.Flag) []cli.Flag {
	return resultFlags("print the created object as JSON instead of its ID", others...)
}

// resultFlags returns the flags of commands that change something and print a result,
// with the meaning of --json.
func resultFlags(json string, others ...cli.Flag) []cli.Flag {
	return slices.Concat(others, []cli.Flag{&cli.BoolFlag{Name: "json", Usage: json}}, changeFlags())
}

// confirm prompts for the name of a protected profile, or for a yes to a sweeping
// change. If it cannot prompt, --confirm or --yes must be set.
func (s *session) confirm(c *cli.Context, in *profile.Settings, planned change) error {
	if in.Bool("protected") {
		return s.confirmByName(c, in, planned)
	}
	if !planned.sweeping || c.Bool("yes") {
		return nil
	}
	if !s.mayPrompt(c) {
		return &unconfirmedError{fmt.Sprintf("refused to %s without --yes", planned.text)}
	}
	answer, err := s.prompter.ReadLine(c.Context, fmt.Sprintf("%s: %s? [y/N] ", s.painted(c, in), display.Sanitize(planned.text)))
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return &unconfirmedError{"cancelled; nothing was changed"}
	}
	return nil
}

// confirmByName prompts for the name of a protected profile. In a script, --confirm
// has the name, and a sweeping change needs --yes too.
func (s *session) confirmByName(c *cli.Context, in *profile.Settings, planned change) error {
	typed := c.String("confirm")
	switch {
	case typed == "" && !s.mayPrompt(c):
		return &unconfirmedError{fmt.Sprintf("profile %s is protected: refused to %s without --confirm %s", in.Profile, planned.text, in.Profile)}
	case typed == "":
		var err error
		typed, err = s.prompter.ReadLine(c.Context, fmt.Sprintf("Profile %s is protected. To %s, type its name: ", s.painted(c, in), display.Sanitize(planned.text)))
		if err != nil {
			return err
		}
	case planned.sweeping && !c.Bool("yes"):
		return &unconfirmedError{fmt.Sprintf("refused to %s without --yes", planned.text)}
	}
	if typed != in.Profile {
		return &unconfirmedError{fmt.Sprintf("nothing was changed: the profile is %s, not %q", in.Profile, typed)}
	}
	return nil
}

// painted returns the name of the profile for a prompt, in its colour.
func (s *session) painted(c *cli.Context, in *profile.Settings) string {
	code := profile.Colours[strings.ToLower(in.Text("colour"))]
	if code == 0 || !s.inColour(c) {
		return in.Name()
	}
	return fmt.Sprintf("\x1b[1;%dm%s\x1b[0m", code, in.Name())
}

// inColour reports whether prompts may have colours.
func (s *session) inColour(c *cli.Context) bool {
	switch {
	case c.Bool("no-color") || s.Env("NO_COLOR") != "":
		return false
	case s.Env("CLICOLOR_FORCE") != "" && s.Env("CLICOLOR_FORCE") != "0":
		return true
	}
	return s.prompter.Colours && s.Env("TERM") != "dumb" && s.Env("CLICOLOR") != "0"
}
