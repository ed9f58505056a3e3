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

// session is what one run of the program works with: its streams, its clock, and
// the connector that knows the settings and who signs in.
type session struct {
	profile.Connector
	stdout   io.Writer
	terminal output.Terminal // what stdout is
	prompter cmdline.Prompter
	now      func() time.Time
}

// sessionKey is where the app keeps the session of its commands.
const sessionKey = "session"

// change is what a command is going to change.
type change struct {
	what     string // in words, such as "delete 3 messages"
	sweeping bool   // it cannot be undone, or concerns many: it needs a yes
	do       func(out *output.Printer, service *client.Client) error
}

// with is the action of a command that needs more than a client.
func with(do func(c *cli.Context, s *session) error) cli.ActionFunc {
	return func(c *cli.Context) error { return do(c, c.App.Metadata[sessionKey].(*session)) }
}

// reads is the action of a command that reads.
func reads(do func(c *cli.Context, out *output.Printer, service *client.Client) error) cli.ActionFunc {
	return with(func(c *cli.Context, s *session) error {
		service, err := s.Reader(c)
		if err != nil {
			return err
		}
		defer service.Close()
		return do(c, s.printer(c), service)
	})
}

// changes is the action of a command that changes something: it plans the change
// before anyone is asked to confirm it.
func changes(plan func(c *cli.Context, s *session) (change, error)) cli.ActionFunc {
	return with(func(c *cli.Context, s *session) error {
		what, err := plan(c, s)
		if err != nil {
			return err
		}
		service, err := s.connectToChange(c, what)
		if err != nil {
			return err
		}
		defer service.Close()
		return what.do(s.printer(c), service)
	})
}

// connectToChange makes a client for a command that changes something, once
// those who must agree have agreed. The client of a read-only profile refuses
// even then.
func (s *session) connectToChange(c *cli.Context, what change) (*client.Client, error) {
	in, err := s.Settings(c)
	if err != nil {
		return nil, err
	}
	if !in.Yes("read_only") && !c.Bool(profile.DryRunFlag) {
		if err := s.confirm(c, in, what); err != nil {
			return nil, err
		}
	}
	return s.Client(c, in.Yes("read_only"))
}

// printer prints what a command shows.
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

// today is the present time in the zone of the settings.
func (s *session) today(c *cli.Context) (time.Time, error) {
	in, err := s.Settings(c)
	if err != nil {
		return time.Time{}, err
	}
	return s.now().In(in.Zone()), nil
}

// mayAsk reports whether questions can be asked, and are wanted.
func (s *session) mayAsk(c *cli.Context) bool {
	return s.prompter.Keyboard != nil && !c.Bool("no-input")
}

// changeFlags are what every command takes that changes something.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask whether it is meant"},
		&cli.StringFlag{Name: "confirm", Usage: "`NAME` of the profile, typed once more, where that is protected"},
	}
}

// newFlags are those of commands that make something.
func newFlags(others ...cli.Flag) []cli.Flag {
	return slices.Concat(others, []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print all of what was made, not only its id"}}, changeFlags())
}

// confirm asks for what a change needs: on a protected profile its name, for a
// sweeping change a yes. Where no question can be asked, flags must have said so.
func (s *session) confirm(c *cli.Context, in *profile.Settings, what change) error {
	if in.Yes("protected") {
		return s.confirmByName(c, in, what)
	}
	if !what.sweeping || c.Bool("yes") {
		return nil
	}
	if !s.mayAsk(c) {
		return &unconfirmedError{fmt.Sprintf("refused to %s without --yes", what.what)}
	}
	answer, err := s.prompter.Ask(c.Context, fmt.Sprintf("%s: %s? [y/N] ", s.painted(c, in), display.Sanitize(what.what)))
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return &unconfirmedError{"nothing was changed"}
	}
	return nil
}

// confirmByName wants the name of a protected profile to be typed. In a script,
// --confirm is that, and a sweeping change needs --yes as well.
func (s *session) confirmByName(c *cli.Context, in *profile.Settings, what change) error {
	typed := c.String("confirm")
	switch {
	case typed == "" && !s.mayAsk(c):
		return &unconfirmedError{fmt.Sprintf("profile %s is protected: refused to %s without --confirm %s", in.Profile, what.what, in.Profile)}
	case typed == "":
		var err error
		typed, err = s.prompter.Ask(c.Context, fmt.Sprintf("Profile %s is protected. To %s, type its name: ", s.painted(c, in), display.Sanitize(what.what)))
		if err != nil {
			return err
		}
	case what.sweeping && !c.Bool("yes"):
		return &unconfirmedError{fmt.Sprintf("refused to %s without --yes", what.what)}
	}
	if typed != in.Profile {
		return &unconfirmedError{fmt.Sprintf("nothing was changed: the profile is %s, not %q", in.Profile, typed)}
	}
	return nil
}

// painted is the name of what a question is about, in the colour of the profile.
func (s *session) painted(c *cli.Context, in *profile.Settings) string {
	code := profile.Colours[strings.ToLower(in.Text("colour"))]
	if code == 0 || !s.inColour(c) {
		return in.Name()
	}
	return fmt.Sprintf("\x1b[1;%dm%s\x1b[0m", code, in.Name())
}

// inColour reports whether questions may have colours.
func (s *session) inColour(c *cli.Context) bool {
	switch {
	case c.Bool("no-color") || s.Env("NO_COLOR") != "":
		return false
	case s.Env("CLICOLOR_FORCE") != "" && s.Env("CLICOLOR_FORCE") != "0":
		return true
	}
	return s.prompter.Colours && s.Env("TERM") != "dumb" && s.Env("CLICOLOR") != "0"
}
