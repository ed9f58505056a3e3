package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// Flags and commands that Run treats in a way of their own.
const (
	HelpFlag    = "help"
	VersionFlag = "version"
)

// Decorate gives a program and its commands what they have in common. The
// library's own help, version and suggestions are off, since they write to
// standard output.
func Decorate(app *cli.App) {
	app.HideHelp, app.HideVersion, app.DisableSliceFlagSeparator = true, true, true
	app.ExitErrHandler = func(*cli.Context, error) {} // main decides the exit code
	app.OnUsageError = usageErrorOf
	decorate(app.Commands, "")
}

func decorate(commands []*cli.Command, path string) {
	for _, c := range commands {
		name := strings.TrimSpace(path + " " + c.Name)
		c.HideHelp = true
		c.OnUsageError = usageErrorOf
		if c.Action != nil {
			c.Action = withArity(name, c.ArgsUsage, c.Action)
		}
		decorate(c.Subcommands, name)
	}
}

// Run puts the arguments in the order that the library wants and runs the
// command. --help and --version win over everything else that is asked.
func Run(ctx context.Context, app *cli.App, args []string) error {
	l, err := ReorderArgs(app, args)
	switch {
	case l.has(HelpFlag):
		err = app.RunContext(ctx, append([]string{app.Name, "help"}, l.Path...))
	case err != nil:
	case l.has(VersionFlag):
		err = app.RunContext(ctx, []string{app.Name, "version"})
	default:
		err = app.RunContext(ctx, l.Argv(app.Name))
	}
	var usage *UsageError
	if errors.As(err, &usage) {
		usage.Command = strings.Join(l.Path, " ")
	}
	return err
}

// usageErrorOf takes over what the library says of a value that it cannot
// read, in our spelling of flags.
func usageErrorOf(_ *cli.Context, err error, _ bool) error {
	text := strings.Replace(err.Error(), "for flag -", "for --", 1)
	return Usagef("%s", strings.TrimSuffix(text, ": parse error"))
}

// withArity is an action that runs only with as many arguments as the command
// takes.
func withArity(name, usage string, action cli.ActionFunc) cli.ActionFunc {
	least, most := arity(usage)
	return func(c *cli.Context) error {
		switch n := c.Args().Len(); {
		case usage == "" && n > 0:
			return Usagef("%s takes no argument %q", name, c.Args().First())
		case n < least && n == 0:
			return Usagef("%s needs %s", name, usage)
		case n < least || most >= 0 && n > most:
			return Usagef("%s takes %s, not %d arguments", name, usage, n)
		}
		return action(c)
	}
}

// arity reads how many arguments a command takes; most is -1 where there is no
// end to them.
func arity(usage string) (least, most int) {
	for word := range strings.FieldsSeq(usage) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		if most++; strings.Contains(word, "...") {
			return least, -1
		}
	}
	return least, most
}

// FindCommand looks a command up by its path, of any of its names.
func FindCommand(commands []*cli.Command, path []string) *cli.Command {
	var found *cli.Command
	for _, word := range path {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if i < 0 {
			return nil
		}
		found, commands = commands[i], commands[i].Subcommands
	}
	return found
}

// noCommand is the error of a word that is no command, or of none where one is
// needed.
func noCommand(commands []*cli.Command, group, word string) error {
	var names, all []string
	for _, c := range commands {
		if !c.Hidden {
			names, all = append(names, c.Name), append(all, c.Names()...)
		}
	}
	near := record.DidYouMean(record.Suggest(word, all))
	switch {
	case group == "":
		return Usagef("no command %q%s", word, near)
	case word == "":
		return Usagef("%s needs one of: %s", group, strings.Join(names, ", "))
	case near == "":
		near = "; it has " + strings.Join(names, ", ")
	}
	return Usagef("%s has no command %q%s", group, word, near)
}
