package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
)

func (p *program) tuiCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "tui", Usage: "look at everything on one screen, live", Action: p.tui,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "theme", Usage: "`THEME` of colours: " + strings.Join(theme.Themes(), ", "), DefaultText: theme.Auto},
			&cli.BoolFlag{Name: "ascii", Usage: "draw lines and signs in ASCII (WHCTL_ASCII)"},
			&cli.BoolFlag{Name: "mouse", Usage: "take the mouse, also over ssh; --mouse=false leaves it to the terminal, as M does"},
		},
		Description: `whctl tui
whctl tui --profile prod --read-only`,
	}}
}

// tui shows the screens. A profile that is protected or read-only begins without
// the right to change anything; --read-only keeps that for good.
func (p *program) tui(c *cli.Context) error {
	if !p.terminal.Is {
		return cmdline.Usagef("tui needs a terminal; whctl query and the others print anywhere")
	}
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	palette, ascii, err := p.look(c, s)
	if err != nil {
		return err
	}
	screens := &session{program: p, c: c}
	defer screens.close()
	service, o, err := screens.open(s)
	if err != nil {
		return err
	}
	o.Registry, o.Now, o.Downloads, o.State = p.registry, p.now, downloads(), p.stateDir()
	o.Theme, o.ASCII, o.Mouse = palette, ascii, p.takesMouse(c)
	o.Input, o.Output, o.Env = p.stdin, p.stdout, p.env
	o.Profiles, o.Switch = p.switchable, screens.change
	return tui.Run(c.Context, service, o)
}

// look is how the screens are to look: as flags say, else as settings do.
func (p *program) look(c *cli.Context, s *profile.Settings) (palette string, ascii bool, err error) {
	if palette, err = chosenOf(c, s, "theme"); err != nil {
		return "", false, err
	}
	if !p.inColour(c) {
		palette = theme.Mono
	}
	return palette, c.Bool("ascii") || p.env(profile.EnvASCII) != "", nil
}

// chosenOf is a setting that a command has a flag for.
func chosenOf(c *cli.Context, s *profile.Settings, name string) (string, error) {
	if !c.IsSet(name) {
		return strings.ToLower(s.Text(name)), nil
	}
	one, _ := profile.Named(name)
	if err := one.Form.Check(c.String(name)); err != nil {
		return "", cmdline.Usagef("--%s %s", name, err)
	}
	return strings.ToLower(c.String(name)), nil
}

// session is what one run of the screens has opened.
type session struct {
	*program
	c      *cli.Context
	opened []*client.Client
}

// open makes a client, and the options of the screens that are about it.
func (s *session) open(in *profile.Settings) (*client.Client, tui.Options, error) {
	readOnly := in.Yes("read_only") || in.Yes("protected") || s.c.Bool("read-only")
	service, err := s.connectBy(in, readOnly)
	if err != nil {
		return nil, tui.Options{}, err
	}
	o := tui.Options{
		URL: service.URL(), Profile: in.Profile, User: in.Text("user"), Colour: in.Text("colour"), Zone: in.Zone(),
		ReadOnly: readOnly, Protected: readOnly && in.Profile != "", InsecureTLS: in.Yes("insecure_tls"),
	}
	if !s.c.IsSet("read-only") {
		o.Unlock = func() (*client.Client, error) { return s.connectBy(in, false) }
	}
	return service, o, nil
}

func (s *session) connectBy(in *profile.Settings, readOnly bool) (*client.Client, error) {
	service, err := s.clientFor(s.c, in, readOnly)
	if err == nil {
		s.opened = append(s.opened, service)
	}
	return service, err
}

// change is open for another profile: as its table says, and with what whctl
// login has stored for it. Flags and variables were meant for the first one, and
// a key must not go to another service.
func (s *session) change(profile string) (*client.Client, tui.Options, error) {
	in, err := s.settingsOf(profile)
	if err != nil {
		return nil, tui.Options{}, err
	}
	other := *s.program
	other.stderr = io.Discard // the screens are there
	who, err := other.storedIdentity(s.c, in)
	if err != nil {
		return nil, tui.Options{}, err
	}
	other.resolved, other.who = in, &who
	part := &session{program: &other, c: s.c}
	service, o, err := part.open(in)
	s.opened = append(s.opened, part.opened...)
	return service, o, err
}

func (s *session) close() {
	for _, one := range s.opened {
		one.Close()
	}
}

// settingsOf are what the file says of a profile, and what is initially so.
func (p *program) settingsOf(name string) (*profile.Settings, error) {
	file, err := p.knownProfile(name)
	if err != nil {
		return nil, err
	}
	return file.Settings(name), nil
}

// switchable are the profiles that the screens can change to.
func (p *program) switchable() ([]tui.Profile, error) {
	file, err := profile.Read(p.env)
	if err != nil {
		return nil, err
	}
	var list []tui.Profile
	for _, name := range file.Profiles() {
		s, err := p.settingsOf(name)
		if err != nil {
			return nil, err
		}
		list = append(list, tui.Profile{
			Name: name, URL: s.Text("url"), Colour: s.Text("colour"), ReadOnly: s.Yes("read_only"), Protected: s.Yes("protected"),
		})
	}
	return list, nil
}

// takesMouse reports whether clicks are for the screens: over ssh, people want to
// select text with it instead.
func (p *program) takesMouse(c *cli.Context) bool {
	if c.IsSet("mouse") {
		return c.Bool("mouse")
	}
	return !slices.ContainsFunc([]string{"SSH_TTY", "SSH_CONNECTION"}, func(name string) bool { return p.env(name) != "" })
}

// stateDir is where the screens keep how they were left; empty where there is no
// place for it.
func (p *program) stateDir() string {
	if dir := p.env("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "whctl")
	}
	home, err := os.UserHomeDir()
	switch {
	case runtime.GOOS == "windows":
		home = p.env("LOCALAPPDATA")
	case err != nil:
		return ""
	case runtime.GOOS == "darwin":
		home = filepath.Join(home, "Library", "Application Support")
	default:
		home = filepath.Join(home, ".local", "state")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, "whctl")
}

// downloads is where a browser would put files, else the present directory.
func downloads() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(home, "Downloads")
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return ""
	}
	return path
}
