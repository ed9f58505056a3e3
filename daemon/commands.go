package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/fault"
)

// Process is what the operating system gives a program.
type Process struct {
	Args    []string // without the program's name
	Env     []string // as os.Environ gives it
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Signals <-chan os.Signal // those that ask the program to stop

	Reloads func() <-chan os.Signal // begins to catch those that ask to read the settings again; nil for none
}

// exit is a status with which the program ends.
type exit struct {
	status int
	means  string
}

var (
	exitDone        = exit{0, "done"}
	exitFailure     = exit{1, "failure"}
	exitUsage       = exit{2, "wrong usage or settings"}
	exitUnreachable = exit{3, "the store cannot be reached or used"}
)

// exitOf decides the status by the error that a command ended with.
func exitOf(err error) exit {
	_, isUsage := errors.AsType[*config.UsageError](err)
	switch {
	case err == nil:
		return exitDone
	case isUsage, fault.Is(err, fault.Invalid): // such as a name or password that cannot be
		return exitUsage
	case fault.Is(err, fault.Unavailable):
		return exitUnreachable
	}
	return exitFailure
}

// Main runs the command that the arguments name and returns the program's exit
// status. What people asked for goes to standard output, everything else to
// standard error.
func Main(p Process) int {
	keepFilesPrivate()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- run(ctx, p) }()
	err := await(done, p.Signals, cancel)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(p.Stderr, "whd: %s\n", line)
		}
	}
	return exitOf(err).status
}

// await waits for the command's end. The first signal asks it to end; after a
// second one it is not waited for any longer.
func await(done <-chan error, signals <-chan os.Signal, cancel func()) error {
	select {
	case err := <-done:
		return err
	case <-signals:
		cancel()
	}
	select {
	case err := <-done:
		return err
	case s := <-signals:
		return fmt.Errorf("stopped at once by a second signal (%v)", s)
	}
}

// call is one run of a command.
type call struct {
	Process
	command command
	args    []string          // those that are no flags
	own     map[string]string // the command's own flags
	flags   config.Layer      // the settings' flags
}

// run finds the command, reads its arguments and runs it.
func run(ctx context.Context, p Process) error {
	found, args, err := findCommand(p.Args)
	if err != nil {
		return err
	}
	c := &call{Process: p, command: found, own: make(map[string]string)}
	c.args, err = config.ParseOptions(args, c.options())
	if errors.Is(err, config.ErrHelp) {
		return c.help(p.Stdout)
	}
	if err == nil {
		err = c.countArgs()
	}
	if err != nil {
		return err
	}
	return found.run(ctx, c)
}

// options are the flags that the command takes.
func (c *call) options() []config.Option {
	var options []config.Option
	for _, o := range c.command.options {
		o.Set = func(text string) error {
			c.own[o.Name] = text
			return nil
		}
		options = append(options, o)
	}
	return append(options, config.Options(c.command.settings, &c.flags)...)
}

// countArgs compares the arguments with those that the command's line in the
// table names. One in brackets may be left out, one with dots repeated.
func (c *call) countArgs() error {
	names := strings.Fields(c.command.args)
	if len(c.args) > len(names) && !strings.Contains(c.command.args, "...") {
		return config.Usagef("unexpected argument %q of whd %s", c.args[len(names)], c.command.name)
	}
	for _, name := range names[min(len(c.args), len(names)):] {
		if !strings.HasPrefix(name, "[") {
			return config.Usagef("whd %s needs %s; see whd help %s", c.command.name, name, c.command.name)
		}
	}
	return nil
}

// settings reads the settings, as they stand now.
func (c *call) settings() (config.Config, *config.Origins, error) {
	return config.Read(c.flags, c.Env)
}

// config reads the settings and prints warnings about them.
func (c *call) config() (config.Config, *config.Origins, error) {
	conf, origins, err := c.settings()
	if err != nil {
		return config.Config{}, nil, err
	}
	for _, warning := range origins.Warnings {
		fmt.Fprintf(c.Stderr, "whd: warning: %s\n", warning)
	}
	return conf, origins, nil
}
