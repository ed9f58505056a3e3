package main

import (
	"context"
	"io"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/changes"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/complete"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/cmd/whctl/records"
	"github.com/bizhook/whd/cmd/whctl/webhooks"
)

func main() {
	ctx := cmdline.CommandContext()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// run runs the program and returns its exit code.
func run(
	ctx context.Context, args []string, env func(string) string,
	stdin io.Reader, stdout, stderr io.Writer,
) int {
	s := &command.Session{
		Connector: profile.Connector{
			Env:      env,
			Stdin:    stdin,
			Stderr:   stderr,
			Vault:    profile.Vault{Env: env, Timeout: profile.KeyringTimeout},
			Version:  cmdline.Version(),
			DryRun:   showRequest,
			DryRunTo: stdout,
		},
		Stdout:   stdout,
		Terminal: output.TerminalOf(stdout, env),
		Prompter: cmdline.PrompterAt(stdin, stderr),
		Now:      time.Now,

		CompletionTimeout: objectsTimeout,
	}
	err := dispatch(ctx, s, newApp(s), args)
	report(stderr, err, s.HowToSignIn)
	return cmdline.ExitCode(exits, err)
}

// dispatch runs a command or completes a command line.
func dispatch(ctx context.Context, s *command.Session, app *cli.App, args []string) error {
	if len(args) > 0 && args[0] == cmdline.CompleteCommand {
		return completeLine(ctx, s, app, args[1:])
	}
	return explainSQL(cmdline.Run(ctx, app, args), args)
}

// completeLine completes a command line.
func completeLine(ctx context.Context, s *command.Session, app *cli.App, args []string) error {
	describe := func(t topic) (string, string) { return t.name, t.summary }
	values := map[string][]complete.Candidate{
		"progress": complete.Plain(records.ProgressModes),
		"role":     complete.Plain(command.Roles),
		"TOPIC":    complete.Candidates(topics(app), describe),
	}
	words := complete.Words{App: app, Env: s.Env, Values: values, Objects: objects(ctx, s, app)}
	return words.Complete(args)
}

// newApp returns the program with its flags and table of commands.
func newApp(s *command.Session) *cli.App {
	app := &cli.App{
		Name:      "whctl",
		Usage:     "query business records and manage webhooks of whd",
		Reader:    s.Stdin,
		Writer:    s.Stdout,
		ErrWriter: s.Stderr,
		Metadata:  map[string]any{command.SessionKey: s},
		Flags:     globalFlags(),
		Action:    help,
		Commands:  commands(),
	}
	cmdline.Decorate(app)
	return app
}

// commands returns the table of commands, in the order of the help. Each group has its own table, in
// this package or in one that holds several groups.
func commands() []*cli.Command {
	return slices.Concat(
		records.Commands(),
		changes.Commands(),
		webhooks.SubscriberCommands(),
		webhooks.SubscriptionCommands(),
		webhooks.MessageCommands(),
		webhooks.EventCommands(),
		webhooks.WhyCommands(),
		requestCommands(),
		billCommands(),
		userCommands(),
		keyCommands(),
		serviceCommands(),
		webhooks.TriggerCommands(),
		webhooks.ListenCommands(),
		doctorCommands(),
		loginCommands(),
		profileCommands(),
		configCommands(),
		mcpCommands(),
		tuiCommands(),
		helpCommands(),
	)
}

// globalFlags returns the flags of every command: settings, identity and verbosity.
func globalFlags() []cli.Flag {
	return slices.Concat(profile.Flags(), profile.IdentityFlags(), []cli.Flag{
		&cli.BoolFlag{
			Name:  profile.DryRunFlag,
			Usage: "print the requests that would change something, or the query, instead of sending them",
		},
		&cli.BoolFlag{
			Name:    "quiet",
			Aliases: []string{"q"},
			Usage:   "print no notices on standard error, only errors",
		},
		&cli.BoolFlag{
			Name:    "verbose",
			Aliases: []string{"v"},
			Usage:   "log a line for each request to standard error",
		},
		&cli.BoolFlag{Name: "debug", Usage: "log HTTP traffic to standard error, secrets redacted"},
		&cli.BoolFlag{Name: "no-color", Usage: "disable colours"},
		&cli.BoolFlag{Name: "no-input", Usage: "never prompt; fail instead"},
		&cli.BoolFlag{Name: cmdline.HelpFlag, Aliases: []string{"h"}, Usage: "show help"},
		&cli.BoolFlag{Name: cmdline.VersionFlag, Aliases: []string{"V"}, Usage: "show the version"},
	})
}
