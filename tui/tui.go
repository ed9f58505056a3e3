// Package tui is the screens of whctl: what an administrator leaves open all
// day. The app routes messages and keys, and is the ui.Host of the screens, which
// are packages of their own below screens; package ui is what they are made of,
// package browse what lists of rows have in common. Everything that changes
// something at the service goes through Host.Change.
package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
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
	Theme       string // one of Themes; empty for Auto
	ASCII       bool   // lines and signs are ASCII, whatever the terminal has
	Mouse       bool   // clicks come here from the start; the terminal selects no text then
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

	signs string                               // that it is drawn with
	tick  func(time.Duration, tea.Msg) tea.Cmd // a message that comes later
	hear  func(tea.Cmd) tea.Cmd                // the wait for what the stream tells
}

// Run shows the screens until the user leaves or ctx is done. The terminal is as
// before afterwards, whatever happened.
func Run(ctx context.Context, c *client.Client, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	if o = o.complete(); o.Theme == "" && theme.MayAsk(o.Env) {
		o.Theme = askedTheme(o.Input, o.Output)
	}
	a := newApp(ctx, c, o)
	program := tea.NewProgram(a, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithInput(o.Input), tea.WithOutput(o.Output))
	_, err := program.Run()
	ended := ctx.Err() != nil
	cancel()
	a.wait()
	err = a.crash.told(err)
	if ended && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return nil // somebody ended it from outside
	}
	return err
}

// complete fills in what was left open.
func (o Options) complete() Options {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.signs = theme.GlyphSet(runtime.GOOS, o.Env); o.ASCII {
		o.signs = theme.ASCII
	}
	if o.Theme == "" || o.Theme == theme.Auto {
		o.Theme = theme.Hinted(o.Env)
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
	if o.tick == nil {
		o.tick = func(d time.Duration, m tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return m })
		}
	}
	if o.hear == nil {
		o.hear = func(wait tea.Cmd) tea.Cmd { return wait }
	}
	return o
}
