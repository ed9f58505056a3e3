package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
)

func tuiCommands() []*cli.Command {
	return []*cli.Command{{
		Name:   "tui",
		Usage:  "open the terminal user interface",
		Action: command.With(showScreens),
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name:        "theme",
				Usage:       "`THEME`  colour theme: " + strings.Join(theme.Themes(), ", "),
				DefaultText: theme.Auto,
			},
			&cli.BoolFlag{Name: "ascii", Usage: "draw with ASCII characters only (WHCTL_ASCII)"},
			&cli.BoolFlag{
				Name:  "mouse",
				Usage: "use the mouse, including over SSH; --mouse=false leaves the mouse to the terminal (M switches)",
			},
		},
		Description: `whctl tui
whctl tui --profile prod --read-only`,
	}}
}

// showScreens runs whctl tui. A protected or read-only profile starts in
// read-only mode, which the user can unlock unless --read-only is set.
func showScreens(c *cli.Context, s *command.Session) error {
	if !s.Terminal.IsTerminal || !output.IsTerminal(s.Stdin) {
		return cmdline.Usagef("tui needs a terminal")
	}
	in, err := s.Settings(c)
	if err != nil {
		return err
	}
	v := &viewer{Connector: &s.Connector, c: c}
	defer v.close()
	appearance, err := v.appearance(in, s.InColour(c))
	if err != nil {
		return err
	}
	service, o, err := v.open(&s.Connector, in)
	if err != nil {
		return err
	}
	o.Appearance = appearance
	o.Input = s.Stdin
	o.Output = s.Stdout
	o.Env = s.Env
	o.Now = s.Now
	o.Downloads = downloads()
	o.State = stateDir(s.Env)
	o.Profiles = v.profiles
	o.Switch = v.change

	// A closed terminal can send several signals. Only the first one has an effect, since another
	// would end the process before the state is saved and the terminal restored.
	ctx, stop := cmdline.CancelOnSignal(c.Context)
	defer stop()
	return tui.Run(ctx, service, o)
}

// viewer opens the clients of the terminal user interface.
type viewer struct {
	*profile.Connector // connector with the flags and environment variables
	c                  *cli.Context

	mu     sync.Mutex // guards the fields below: screens open clients in the background
	opened []*client.Client
	closed bool
}

// appearance returns the appearance of the screens.
func (v *viewer) appearance(in *profile.Settings, coloured bool) (tui.Appearance, error) {
	palette := in.Text("theme")
	if v.c.IsSet("theme") {
		palette = v.c.String("theme")
		setting, _ := profile.LookupSetting("theme")
		if err := setting.Form.Check(palette); err != nil {
			return tui.Appearance{}, cmdline.Usagef("--theme %s", err)
		}
	}
	if !coloured {
		palette = theme.Mono
	}
	return tui.Appearance{
		Theme: strings.ToLower(palette),
		ASCII: v.c.Bool("ascii") || v.Env(profile.EnvASCII) != "",
		Mouse: v.takesMouse(),
	}, nil
}

// open creates a client and the options that depend on it.
func (v *viewer) open(
	connector *profile.Connector, in *profile.Settings,
) (*client.Client, tui.Options, error) {
	connector.Program = "whctl-tui" // the list of requests leaves out those of this program
	connect := func(readOnly bool) (*client.Client, error) {
		service, err := connector.Client(v.c, readOnly)
		if err != nil {
			return nil, err
		}
		return service, v.keep(service)
	}
	readOnly := in.Bool("read_only") || in.Bool("protected") || v.c.Bool("read-only")
	service, err := connect(readOnly)
	if err != nil {
		return nil, tui.Options{}, err
	}
	o := tui.Options{
		URL:         service.URL(),
		Profile:     in.Profile,
		User:        in.Text("user"),
		Colour:      in.Text("colour"),
		Zone:        in.Zone(),
		ReadOnly:    readOnly,
		Protected:   readOnly && in.Profile != "",
		InsecureTLS: in.Bool("insecure_tls"),
		Kinds:       tui.Kinds{Known: in.Kinds().Stored(), Fetch: in.Kinds().Refresh},
	}
	if !v.c.Bool("read-only") {
		o.Unlock = func() (*client.Client, error) { return connect(false) }
	}
	return service, o, nil
}

// change opens another profile.
func (v *viewer) change(name string) (*client.Client, tui.Options, error) {
	file, err := profile.ReadWith(v.Env, name)
	if err != nil {
		return nil, tui.Options{}, err
	}
	in := file.Settings(name)
	connector, err := v.ForProfile(v.c, in)
	if err != nil {
		return nil, tui.Options{}, err
	}
	return v.open(connector, in)
}

// errClosed is the error of a client that was opened when the screens were closed.
var errClosed = errors.New("the screens are closed")

// keep keeps a client until close, or closes it if that has happened.
func (v *viewer) keep(service *client.Client) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		service.Close()
		return errClosed
	}
	v.opened = append(v.opened, service)
	return nil
}

// close closes all clients.
func (v *viewer) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for _, service := range v.opened {
		service.Close()
	}
}

// profiles returns the profiles that the user can switch to.
func (v *viewer) profiles() ([]tui.Profile, error) {
	file, err := profile.Read(v.Env)
	if err != nil {
		return nil, err
	}
	var list []tui.Profile
	for _, name := range file.Profiles() {
		in := file.Settings(name)
		list = append(list, tui.Profile{
			Name:      name,
			URL:       in.Text("url"),
			Colour:    in.Text("colour"),
			ReadOnly:  in.Bool("read_only"),
			Protected: in.Bool("protected"),
		})
	}
	return list, nil
}

// takesMouse reports whether mouse events are requested. Over SSH the default is no,
// so that the mouse can select text.
func (v *viewer) takesMouse() bool {
	if v.c.IsSet("mouse") {
		return v.c.Bool("mouse")
	}
	isSSH := v.Env("SSH_TTY") != "" || v.Env("SSH_CONNECTION") != ""
	return !isSSH
}

// stateDir returns the directory for the state of the user interface; empty if there
// is no home directory.
func stateDir(env func(string) string) string {
	if dir := env("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "whctl")
	}
	if runtime.GOOS == "windows" {
		if dir := env("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "whctl")
		}
		return ""
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "whctl")
	}
	return filepath.Join(home, ".local", "state", "whctl")
}

// downloads returns the Downloads directory; empty if there is none.
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
