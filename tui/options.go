// Package tui is the screens of whctl: what an administrator leaves open all
// day. The app routes messages and keys, and is the ui.Host of the screens, which
// are packages of their own below screens; package ui is what they are made of,
// package browse what lists of rows have in common. Everything that changes
// something at the service goes through Host.Change.
package tui

import (
	"io"
	"os"
	"runtime"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/theme"
)

// Options are what the screens need to know besides the client.
type Options struct {
	URL         string // of the service, as it is shown
	Profile     string // its name, empty for none
	User        string // until the service says who it is
	ReadOnly    bool   // changes are forbidden until they are allowed
	Protected   bool   // to allow them takes the name of the profile
	InsecureTLS bool   // certificates are not checked
	Appearance  Appearance
	Colour      string // of the profile's name, as Profile.Colour
	State       string // the directory of what outlives a session; empty for none
	Downloads   string // the directory that exports go to unless another is named
	Registry    *record.Registry
	Zone        *time.Location // of local times; nil for the computer's
	Input       io.Reader
	Output      io.Writer

	// Unlock makes a client that may change things; nil where nothing may lift
	// ReadOnly.
	Unlock func() (*client.Client, error)
	// Profiles lists what can be switched to; nil where that is nothing.
	Profiles func() ([]Profile, error)
	// Switch makes what Run would be given for a profile: a client, and the
	// options that are about the profile. The others stay.
	Switch func(profile string) (*client.Client, Options, error)
	// Env reads variables of the environment; nil for os.Getenv.
	Env func(string) string
	// Now is the clock; nil for time.Now.
	Now func() time.Time

	// Loop takes the place of time and of the stream in tests; the zero value leaves
	// them as they are.
	Loop Loop
}

// Appearance is what a user can choose of how the screens look.
type Appearance struct {
	Theme string // one of Themes; empty for Auto
	ASCII bool   // lines and signs are ASCII, whatever the terminal has
	Mouse bool   // clicks come here from the start; the terminal selects no text then

	glyphs string // that it is drawn with
}

// Loop is what tests put in place of time and of the stream.
type Loop struct {
	Tick   func(time.Duration, tea.Msg) tea.Cmd // a message that comes later
	Listen func(tea.Cmd) tea.Cmd                // the wait for what the stream tells
}

// complete fills in what was left open.
func (o Options) complete() Options {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Appearance.glyphs = theme.GlyphSet(runtime.GOOS, o.Env); o.Appearance.ASCII {
		o.Appearance.glyphs = theme.ASCII
	}
	if o.Appearance.Theme == "" || o.Appearance.Theme == theme.Auto {
		o.Appearance.Theme = theme.ThemeFromEnv(o.Env)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Registry == nil {
		o.Registry = record.Builtin()
	}
	if o.Loop.Tick == nil {
		o.Loop.Tick = func(d time.Duration, m tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return m })
		}
	}
	if o.Loop.Listen == nil {
		o.Loop.Listen = func(wait tea.Cmd) tea.Cmd { return wait }
	}
	return o
}

// Profile is a service that can be switched to.
type Profile struct {
	Name      string
	URL       string
	Colour    string // of its name: red, green, yellow, blue, magenta, cyan, or empty
	ReadOnly  bool
	Protected bool
}

// within are options of another profile in the session that has begun.
func (o Options) within(session Options) Options {
	o.Appearance, o.State = session.Appearance, session.State
	o.Downloads, o.Registry, o.Input, o.Output = session.Downloads, session.Registry, session.Input, session.Output
	o.Profiles, o.Switch, o.Env, o.Now = session.Profiles, session.Switch, session.Env, session.Now
	o.Loop = session.Loop
	return o.complete()
}
