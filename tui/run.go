package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/shell"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
)

// New returns an app. Cancelling ctx stops all of its activity.
func New(ctx context.Context, c *client.Client, o Options) *App {
	o = o.complete()
	a := &App{options: o, root: ctx, crashes: crashLog{dir: o.State, restoreMode: o.restoreMode}}
	a.undo = session.NewUndo(a)
	a.jobs = session.NewJobs(a)
	a.secrets = session.NewSecrets(a)
	a.changes = session.NewChanges(a)
	a.stream = session.NewStream(a, o.Loop.Listen)
	a.kinds = session.NewKinds(a)
	a.account = session.NewAccount(a, a.stream, a.changes, a.kinds, &a.toasts)
	a.switcher = session.NewSwitcher(a, a.undo, a.jobs, a.changes, a.secrets, o.Profiles)
	a.tabs = shell.NewTabs(a)
	a.keys = shell.NewKeyboard(a, a.tabs)
	a.mouse = shell.NewMouse(a, a.tabs, o.Appearance.Mouse)
	a.frame = &shell.Frame{
		Host:    a,
		Tabs:    a.tabs,
		Keys:    a.keys,
		Toasts:  &a.toasts,
		Stream:  a.stream,
		Undo:    a.undo,
		Jobs:    a.jobs,
		Changes: a.changes,
	}
	store, err := state.Open(o.State, o.Profile)
	ctx, a.cancel = context.WithCancel(ctx)
	a.Session = newSession(ctx, o, c, store, o.Appearance.newTheme())
	if err != nil {
		a.ShowError("loading saved settings", err)
	}
	return a
}

// Run shows the screens until the user quits or ctx is done. It always restores the
// terminal.
func Run(ctx context.Context, c *client.Client, o Options) error {
	o = o.complete()
	if o.Env("TERM") == "dumb" {
		return errors.New("the terminal cannot move the cursor (TERM=dumb): " +
			"set TERM to its type, such as xterm-256color, or use the other commands of whctl")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	file, isReadByUs := terminalFile(o.Input)
	if !isReadByUs {
		a := New(ctx, c, o)
		program := newProgram(ctx, a, o.Input)
		return a.run(ctx, cancel, program)
	}
	in, err := newTerminalInput(file)
	if err != nil {
		return fmt.Errorf("reading the terminal: %w", err)
	}
	defer in.suspend()
	o.restoreMode = in.restoreMode
	isThemeQueried := o.Appearance.Theme == "" && theme.CanQueryBackground(runtime.GOOS, o.Env)
	if isThemeQueried {
		o.Appearance.Theme = in.queryTheme(o.Output, queryTimeout)
	}
	a := New(ctx, c, o)
	jobs := newJobControl(ctx, in, o.Loop.CanSuspend)
	program := newProgram(ctx, a, in, tea.WithFilter(jobs.filter))
	jobs.start(program)
	defer jobs.end()
	if isThemeQueried {
		go in.sendThemes(ctx, program)
	}
	return a.run(ctx, cancel, program)
}

// newProgram returns the program that shows an app.
func newProgram(ctx context.Context, a *App, in io.Reader, options ...tea.ProgramOption) *tea.Program {
	options = append(options, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithoutSignalHandler(),
		tea.WithInput(in), tea.WithOutput(a.options.Output))
	return tea.NewProgram(a, options...)
}

// run runs the program of the app, and calls cancel when it has ended.
func (a *App) run(ctx context.Context, cancel func(), program *tea.Program) error {
	_, err := program.Run()
	isDone := ctx.Err() != nil
	cancel()
	a.Wait()
	err = a.crashes.wrap(err)
	isKilled := errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic)
	if isDone && isKilled {
		return nil
	}
	return err
}
