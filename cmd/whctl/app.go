package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// program is what the commands work with.
type program struct {
	env      func(string) string
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	terminal output.Terminal // what stdout is
	prompter cmdline.Prompter
	registry *record.Registry
	now      func() time.Time

	vault    profile.Vault
	resolved *profile.Settings // once they were needed
	who      *identity         // the same
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{
		env: env, stdin: stdin, stdout: stdout, stderr: stderr,
		terminal: output.TerminalOf(stdout, env),
		prompter: cmdline.PrompterAt(stdin, stderr),
		registry: record.Builtin(),
		now:      time.Now,
		vault:    profile.Vault{Env: env, Patience: profile.KeyringPatience},
	}
	return p.main(ctx, args)
}

func (p *program) main(ctx context.Context, args []string) int {
	err := p.dispatch(ctx, p.app(), args)
	p.report(err)
	return cmdline.ExitCode(exits, err)
}

// dispatch runs the command, or completes one.
func (p *program) dispatch(ctx context.Context, app *cli.App, args []string) error {
	if len(args) > 0 && args[0] == completeCommand {
		return p.complete(args[1:])
	}
	return cmdline.Run(ctx, app, args)
}

// app is the command table.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:      "whctl",
		Usage:     "ask the service for business records",
		Writer:    p.stdout,
		ErrWriter: p.stderr,
		Flags:     globalFlags(),
		Action:    p.help,
		Commands:  p.commands(),
	}
	cmdline.Decorate(app)
	return app
}

// globalFlags are those of every command: the settings, who asks, and how much
// is told.
func globalFlags() []cli.Flag {
	return slices.Concat(profile.Flags(), identityFlags(), []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "show the request instead of sending it"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "errors only on standard error"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "a line for each request on standard error"},
		&cli.BoolFlag{Name: "debug", Usage: "what crosses the wire on standard error, without secrets"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours"},
		&cli.BoolFlag{Name: "no-input", Usage: "never ask; fail instead"},
		&cli.BoolFlag{Name: cmdline.HelpFlag, Aliases: []string{"h"}, Usage: "show help"},
		&cli.BoolFlag{Name: cmdline.VersionFlag, Aliases: []string{"V"}, Usage: "show the version"},
	})
}

// kind is the record kind that a command names.
func (p *program) kind(name string) (*record.Kind, error) {
	if kind, ok := p.registry.Lookup(name); ok {
		return kind, nil
	}
	return nil, cmdline.Usagef("no record %q%s; whctl records lists them", name, cmdline.DidYouMean(p.registry.Suggest(name)))
}

// printer prints what a command shows.
func (p *program) printer(c *cli.Context) *output.Printer {
	return &output.Printer{
		Context: c, Stdout: p.stdout, Terminal: p.terminal,
		Notice: func(format string, args ...any) { p.notice(c, format, args...) },
		Preset: func() (string, error) {
			s, err := p.settings(c)
			if err != nil {
				return "", err
			}
			return s.Text("format"), nil
		},
	}
}

// mayAsk reports whether questions can be asked, and are wanted.
func (p *program) mayAsk(c *cli.Context) bool {
	return p.prompter.Keyboard != nil && !c.Bool("no-input")
}

// notice tells something beside the data, unless --quiet.
func (p *program) notice(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintln(p.stderr, display.Sanitize(fmt.Sprintf(format, args...)))
	}
}
