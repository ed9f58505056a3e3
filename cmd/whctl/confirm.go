package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// change is what is going to be changed.
type change struct {
	what     string // in words, such as "delete 3 messages"
	sweeping bool   // it cannot be undone, or concerns many: it needs a yes
}

// changeFlags are what every command takes that changes something.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask whether it is meant"},
		&cli.StringFlag{Name: "confirm", Usage: "`NAME` of the profile, typed once more, where that is protected"},
	}
}

// confirm asks for what a change needs: on a protected profile its name, for a
// sweeping change a yes. Where nobody can be asked, flags must have said so.
func (p *program) confirm(c *cli.Context, s *profile.Settings, what change) error {
	if s.Yes("protected") {
		return p.confirmByName(c, s, what)
	}
	if !what.sweeping || c.Bool("yes") {
		return nil
	}
	if !p.mayAsk(c) {
		return &unconfirmedError{fmt.Sprintf("refused to %s without --yes", what.what)}
	}
	answer, err := p.prompter.Ask(c.Context, fmt.Sprintf("%s: %s? [y/N] ", p.painted(c, s), display.Sanitize(what.what)))
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
func (p *program) confirmByName(c *cli.Context, s *profile.Settings, what change) error {
	typed := c.String("confirm")
	switch {
	case typed == "" && !p.mayAsk(c):
		return &unconfirmedError{fmt.Sprintf("profile %s is protected: refused to %s without --confirm %s", s.Profile, what.what, s.Profile)}
	case typed == "":
		var err error
		typed, err = p.prompter.Ask(c.Context, fmt.Sprintf("Profile %s is protected. To %s, type its name: ", p.painted(c, s), display.Sanitize(what.what)))
		if err != nil {
			return err
		}
	case what.sweeping && !c.Bool("yes"):
		return &unconfirmedError{fmt.Sprintf("refused to %s without --yes", what.what)}
	}
	if typed != s.Profile {
		return &unconfirmedError{fmt.Sprintf("nothing was changed: the profile is %s, not %q", s.Profile, typed)}
	}
	return nil
}

// painted is the name of what a question is about, in the colour of the profile.
func (p *program) painted(c *cli.Context, s *profile.Settings) string {
	name := s.Profile
	if name == "" {
		name = s.Text("url")
	}
	code := profile.Colours[strings.ToLower(s.Text("colour"))]
	if code == 0 || !p.inColour(c) {
		return name
	}
	return fmt.Sprintf("\x1b[1;%dm%s\x1b[0m", code, name)
}

// inColour reports whether questions may have colours.
func (p *program) inColour(c *cli.Context) bool {
	switch {
	case c.Bool("no-color") || p.env("NO_COLOR") != "":
		return false
	case p.env("CLICOLOR_FORCE") != "" && p.env("CLICOLOR_FORCE") != "0":
		return true
	}
	return p.prompter.Colours && p.env("TERM") != "dumb" && p.env("CLICOLOR") != "0"
}
