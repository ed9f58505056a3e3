package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
)

// program is what the commands work with.
type program struct {
	env      func(string) string
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	terminal terminal // what stdout is
	person   person   // who may be asked
	registry *record.Registry
	now      func() time.Time

	patience time.Duration // with the keyring
	resolved *settings     // once they were needed
	who      *identity     // the same
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{
		env: env, stdin: stdin, stdout: stdout, stderr: stderr,
		terminal: terminalOf(stdout, env),
		person:   personAt(stdin, stderr),
		registry: record.Builtin(),
		now:      time.Now,
		patience: keyringPatience,
	}
	return p.main(ctx, args)
}

func (p *program) main(ctx context.Context, args []string) int {
	err := p.dispatch(ctx, p.app(), args)
	p.report(err)
	return exitCode(err)
}

// dispatch puts the arguments in the order that the library wants and runs the
// command. --help and --version win over everything else that is asked.
func (p *program) dispatch(ctx context.Context, app *cli.App, args []string) error {
	if len(args) > 0 && args[0] == completeCommand {
		return p.complete(args[1:])
	}
	l, err := hoist(app, args)
	switch {
	case l.has(helpFlag):
		err = app.RunContext(ctx, append([]string{app.Name, "help"}, l.path...))
	case err != nil:
	case l.has(versionFlag):
		err = app.RunContext(ctx, []string{app.Name, "version"})
	default:
		err = app.RunContext(ctx, l.argv(app.Name))
	}
	var usage *usageError
	if errors.As(err, &usage) {
		usage.command = strings.Join(l.path, " ")
	}
	return err
}

// Names of global flags that are looked for before a command runs.
const (
	helpFlag    = "help"
	versionFlag = "version"
)

// app is the command table. The library's own help, version and suggestions
// are off, since they write to standard output.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:                      "whctl",
		Usage:                     "ask the service for business records",
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {}, // main decides the exit code
		OnUsageError:              onUsageError,
		Flags:                     globalFlags(),
		Action:                    p.help,
		Commands:                  p.commands(),
	}
	dress(app.Commands, "")
	return app
}

// globalFlags are those of every command: the settings, who asks, and how much
// is told.
func globalFlags() []cli.Flag {
	return slices.Concat(settingFlags(), identityFlags(), []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "show the request instead of sending it"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "errors only on standard error"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "a line for each request on standard error"},
		&cli.BoolFlag{Name: "debug", Usage: "what crosses the wire on standard error, without secrets"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours"},
		&cli.BoolFlag{Name: "no-input", Usage: "never ask; fail instead"},
		&cli.BoolFlag{Name: helpFlag, Aliases: []string{"h"}, Usage: "show help"},
		&cli.BoolFlag{Name: versionFlag, Aliases: []string{"V"}, Usage: "show the version"},
	})
}

// onUsageError takes over what the library says of a value that it cannot
// read, in our spelling of flags.
func onUsageError(_ *cli.Context, err error, _ bool) error {
	text := strings.Replace(err.Error(), "for flag -", "for --", 1)
	return usagef("%s", strings.TrimSuffix(text, ": parse error"))
}

// kind is the record kind that a command names.
func (p *program) kind(name string) (*record.Kind, error) {
	if kind, ok := p.registry.Lookup(name); ok {
		return kind, nil
	}
	return nil, usagef("no record %q%s; whctl records lists them", name, didYouMean(p.registry.Near(name)))
}

// notice tells something beside the data, unless --quiet.
func (p *program) notice(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintln(p.stderr, display.Sanitize(fmt.Sprintf(format, args...)))
	}
}
