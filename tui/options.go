// Package tui implements the full-screen terminal interface of whctl. App composes
// the parts in packages session and shell, routes messages to them and implements ui.Host;
// each screen is a package below screens. Package ui provides the building blocks of the
// screens, package browse the lists of rows. All changes of data go through Host.Change.
package tui

import (
	"cmp"
	"context"
	"io"
	"os"
	"runtime"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Options configures the screens.
type Options struct {
	URL         string // address of the service, for display
	Profile     string // empty for none
	User        string // until the service returns the signed-in user
	ReadOnly    bool   // changes are forbidden until the user allows them
	Protected   bool   // the user must type the profile's name to allow changes
	InsecureTLS bool   // certificates are not verified
	Appearance  Appearance
	Colour      string // colour of the profile, like Profile.Colour
	State       string // directory of saved settings; empty for none
	Downloads   string // default directory of exports
	Kinds       Kinds
	Zone        *time.Location // for local times; nil for the time zone of the computer
	Input       io.Reader
	Output      io.Writer

	// Unlock returns a client that may change data; nil if ReadOnly cannot be lifted.
	Unlock func() (*client.Client, error)
	// Profiles lists the available profiles; nil for none.
	Profiles func() ([]Profile, error)
	// Switch returns the client and the options of another profile. Options that do not
	// depend on the profile are ignored.
	Switch func(profile string) (*client.Client, Options, error)
	// Env returns an environment variable; nil for os.Getenv.
	Env func(string) string
	// Now returns the current time; nil for time.Now.
	Now func() time.Time

	Loop Loop // for tests

	restoreMode func() // restores the mode of the terminal; nil if bubbletea does
}

// Kinds are the record kinds.
type Kinds struct {
	Known *record.Registry // at the start; nil for the built-in kinds
	// Fetch returns the kinds of the service; nil to keep those known.
	Fetch func(context.Context, *client.Client) (*record.Registry, error)
}

// Appearance is the configurable appearance of the screens.
type Appearance struct {
	Theme string // one of theme.Themes; empty for theme.Auto
	ASCII bool   // draw with ASCII only
	Mouse bool   // enable the mouse at startup; the terminal then does not select text

	glyphs  string        // the glyph set in use
	colours theme.Colours // the number of colours in use
}

// newTheme returns the theme of an appearance.
func (a Appearance) newTheme() *theme.Theme { return theme.NewIn(a.colours, a.glyphs, a.Theme) }

// Loop replaces timers, the stream and the shell in tests.
type Loop struct {
	Tick       func(time.Duration, tea.Msg) tea.Cmd // sends a message after a delay
	Listen     func(tea.Cmd) tea.Cmd                // runs the command that waits for the stream
	CanSuspend func() bool                          // a shell resumes the program
}

// complete sets the default of each unset option.
func (o Options) complete() Options {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	o.Appearance.colours = theme.ColoursFromEnv(o.Env)
	o.Appearance.glyphs = theme.GlyphSet(runtime.GOOS, o.Env)
	if o.Appearance.ASCII {
		o.Appearance.glyphs = theme.ASCII
	}
	if o.Appearance.Theme == "" || o.Appearance.Theme == theme.Auto {
		o.Appearance.Theme = theme.ThemeFromEnv(o.Env)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Zone = cmp.Or(o.Zone, time.Local)
	o.Kinds.Known = cmp.Or(o.Kinds.Known, record.Builtin())
	if o.Loop.Tick == nil {
		o.Loop.Tick = func(d time.Duration, m tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return m })
		}
	}
	if o.Loop.Listen == nil {
		o.Loop.Listen = func(wait tea.Cmd) tea.Cmd { return wait }
	}
	if o.Loop.CanSuspend == nil {
		o.Loop.CanSuspend = canSuspend
	}
	return o
}

// clipboard returns the clipboard of the terminal or of the computer.
func (o Options) clipboard(ctx context.Context) ui.Clipboard {
	return ui.Clipboard{Context: ctx, Env: o.Env, Output: o.Output}
}

// Profile is an available profile.
type Profile = session.Profile

// LiveMsg contains the events of the live stream since the previous LiveMsg.
type LiveMsg = session.LiveMsg

// withSession returns the options of another profile, with those of the previous session
// that do not depend on the profile.
func (o Options) withSession(previous Options) Options {
	o.Appearance = previous.Appearance
	o.State = previous.State
	o.Downloads = previous.Downloads
	o.Input = previous.Input
	o.Output = previous.Output
	o.Profiles = previous.Profiles
	o.Switch = previous.Switch
	o.Env = previous.Env
	o.Now = previous.Now
	o.Loop = previous.Loop
	return o.complete()
}
