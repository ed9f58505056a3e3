package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// program is what the commands work with.
type program struct {
	env      func(string) string
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	terminal terminal // what stdout is
	registry *record.Registry
	now      func() time.Time
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{
		env: env, stdin: stdin, stdout: stdout, stderr: stderr,
		terminal: terminalOf(stdout, env),
		registry: record.Builtin(),
		now:      time.Now,
	}
	return p.main(ctx, args)
}

func (p *program) main(ctx context.Context, args []string) int {
	err := p.dispatch(ctx, args)
	p.report(err)
	return exitCode(err)
}

// dispatch puts the arguments in the order that the library wants and runs the
// command. --help and --version win over everything else that is asked.
func (p *program) dispatch(ctx context.Context, args []string) error {
	app := p.app()
	l, err := hoist(app, args)
	if l.has(helpFlag) {
		return app.RunContext(ctx, append([]string{app.Name, "help"}, l.path...))
	}
	if err != nil {
		return err
	}
	if l.has(versionFlag) {
		return app.RunContext(ctx, []string{app.Name, "version"})
	}
	return app.RunContext(ctx, l.argv(app.Name))
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
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "url", Usage: "address of the service (WHCTL_URL)", DefaultText: client.DefaultURL},
			&cli.DurationFlag{Name: "timeout", Usage: "how long a reply may take to begin", Value: client.DefaultTimeout},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "errors only on standard error"},
			&cli.BoolFlag{Name: "no-color", Usage: "no colours"},
			&cli.BoolFlag{Name: helpFlag, Aliases: []string{"h"}, Usage: "show help"},
			&cli.BoolFlag{Name: versionFlag, Aliases: []string{"V"}, Usage: "show the version"},
		},
		Action: p.help,
		Commands: []*cli.Command{
			{
				Name: "query", ArgsUsage: "RECORD", Usage: "print records of one kind", Action: p.query,
				Flags: append(queryFlags(), outputFlags()...),
				Description: `whctl query SO_Totals --where "InvoiceTotal>=1000" --order-by -InvoiceTotal --take 10
whctl query SO_Totals --format csv -o totals.csv
whctl query SO_Totals --count`,
			},
			{
				Name: "records", Aliases: []string{"record"}, ArgsUsage: "[RECORD]", Usage: "list the kinds of records, or the fields of one", Action: p.records,
				Flags: outputFlags(),
				Description: `whctl records
whctl records SO_Totals`,
			},
			{Name: "version", Usage: "show the version", Action: p.version},
			{Name: "help", ArgsUsage: "[COMMAND|TOPIC]", Usage: "show help for a command or a topic", Action: p.help},
		},
	}
	for _, command := range app.Commands {
		command.HideHelp = true
		command.OnUsageError = onUsageError
	}
	app.OnUsageError = onUsageError
	return app
}

// onUsageError takes over what the library says of a value that it cannot
// read, in our spelling of flags.
func onUsageError(c *cli.Context, err error, _ bool) error {
	text := strings.Replace(err.Error(), "for flag -", "for --", 1)
	return &usageError{message: strings.TrimSuffix(text, ": parse error"), command: c.Command.Name}
}

// client makes a client from flags and environment; flags win.
func (p *program) client(c *cli.Context) (*client.Client, error) {
	address := p.env(envURL)
	if c.IsSet("url") {
		address = c.String("url")
	}
	made, err := client.New(client.Options{
		URL:       address,
		Token:     p.env(envToken),
		User:      p.env(envUser),
		Password:  p.env(envPassword),
		Timeout:   c.Duration("timeout"),
		UserAgent: "whctl/" + versionText(),
	})
	if err != nil {
		return nil, &usageError{message: err.Error() + " (--url or WHCTL_URL)"}
	}
	return made, nil
}

// kind is the record kind that a command names.
func (p *program) kind(command, name string) (*record.Kind, error) {
	if kind, ok := p.registry.Lookup(name); ok {
		return kind, nil
	}
	return nil, &usageError{
		message: fmt.Sprintf("no record %q%s; whctl records lists them", name, didYouMean(p.registry.Near(name))),
		command: command,
	}
}

// notice tells something beside the data, unless --quiet.
func (p *program) notice(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintln(p.stderr, inertText(fmt.Sprintf(format, args...)))
	}
}
