package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
)

// Names of flags that Run handles itself.
const (
	HelpFlag    = "help"
	VersionFlag = "version"
)

// ProgramOnlyFlag is a flag of a version command that also queries a service. --version does not.
const ProgramOnlyFlag = "program-only"

// Decorate sets the properties that all commands of a program share. It turns off the
// help, version and suggestions of urfave/cli, which write to standard output.
func Decorate(app *cli.App) {
	app.HideHelp = true
	app.HideVersion = true
	app.DisableSliceFlagSeparator = true
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

// Run reorders the arguments for urfave/cli and runs the command. --help and
// --version take precedence over everything else on the line. A group of commands
// without a subcommand prints its help.
func Run(ctx context.Context, app *cli.App, args []string) error {
	r := reorder(app, args)
	line, err := r.Line, r.mistake
	words := line.Argv(app.Name)
	isVersion := line.has(VersionFlag)
	if isVersion {
		words = []string{app.Name, "version"}
		if command := FindCommand(app.Commands, words[1:]); len(command.Flags) > 0 {
			words = append(words, "--"+ProgramOnlyFlag)
		}
	}
	lacksCommand := line.IsGroup && !isVersion
	if line.has(HelpFlag) || lacksCommand {
		words = append([]string{app.Name, "help"}, line.Path...)
		err = nil // help is more useful than the error
	}
	if err == nil {
		err = app.RunContext(ctx, words)
		if usage, ok := errors.AsType[*UsageError](err); ok {
			usage.Message = r.asTyped(usage.Message)
		}
	}

	if usage, ok := errors.AsType[*UsageError](err); ok {
		usage.Command = strings.Join(line.Path, " ")
	}
	return err
}

// usageErrorOf returns the error of urfave/cli for an invalid value, with flags
// spelled with two dashes.
func usageErrorOf(_ *cli.Context, err error, _ bool) error {
	text := strings.Replace(err.Error(), "for flag -", "for --", 1)
	return Usagef("%s", strings.TrimSuffix(text, ": parse error"))
}

// withArity returns an action that checks the number of arguments first.
func withArity(name, usage string, action cli.ActionFunc) cli.ActionFunc {
	minimum, maximum := arity(usage)
	return func(c *cli.Context) error {
		n := c.Args().Len()
		isTooMany := maximum >= 0 && n > maximum
		switch {
		case usage == "" && n > 0:
			return Usagef("%s takes no argument %q%s", name, c.Args().First(), flagFor(c, c.Args().First()))
		case n < minimum && n == 0:
			return Usagef("%s needs %s", name, usage)
		case n < minimum || isTooMany:
			count := display.Count(n, "argument", "arguments")
			hint := flagFor(c, c.Args().Get(max(0, maximum)))
			if isTooMany {
				hint = cmp.Or(passwordHint(c), hint, otherCommand(c, name))
			}
			return Usagef("%s takes %s, got %s%s", name, usage, count, hint)
		}
		return action(c)
	}
}

// newPassword is the flag of commands that set a password.
const newPassword = "new-password"

// passwordHint returns secretHint for a command with a new password, empty for any other.
func passwordHint(c *cli.Context) string {
	if !c.IsSet(newPassword) {
		return ""
	}
	return secretHint(FlagTable{}.Add(c.Command.Flags), newPassword)
}

// secretHint returns how a secret is given to a flag: no argument is one, because other users of
// the machine can read it. It is empty if the command does not read the secret from a file.
func secretHint(flags FlagTable, name string) string {
	file := name + "-file"
	if !flags.Has(file) {
		return ""
	}
	return fmt.Sprintf("; other users can read a command line, so that no secret is written there: "+
		"--%s alone prompts for it, --%s FILE reads it (- is standard input)", name, file)
}

// otherCommand returns a suggestion of the command that takes the last argument of a command with
// too many.
func otherCommand(c *cli.Context, name string) string {
	written := name + strings.Repeat(" *", c.Args().Len())
	for _, f := range familiar {
		if f.has(written) {
			last := c.Args().Get(c.Args().Len() - 1)
			return record.DidYouMean([]string{c.App.Name + " " + f.own + " " + last})
		}
	}
	return ""
}

// flagFor returns a suggestion of the flag that an argument too many may belong to.
func flagFor(c *cli.Context, extra string) string {
	flags := FlagTable{}
	flags.Add(c.App.Flags)
	flags.Add(c.Command.Flags)
	isExpression := extra != "" && strings.ContainsAny(extra[:1], ".[")
	if isExpression && flags.Has("jq") {
		return record.DidYouMean([]string{"--jq '" + extra + "'"})
	}
	if extra != "" && flags.Has("where") {
		return record.DidYouMean(filterFlags(c, flags, extra))
	}
	if !strings.HasPrefix(extra, "http") {
		return ""
	}
	for _, name := range []string{"to", "url"} {
		if flags.Has(name) {
			return record.DidYouMean([]string{"--" + name + " " + extra})
		}
	}
	return ""
}

// filterFlags returns the flags of a query that an argument too many may belong to: a condition
// to --where, and a single word also to the fields before it.
func filterFlags(c *cli.Context, flags FlagTable, extra string) []string {
	if strings.EqualFold(extra, "where") { // as in SQL
		_, condition, _ := strings.Cut(strings.Join(c.Args().Slice(), " "), extra+" ")
		return []string{fmt.Sprintf("--where %q", condition)}
	}
	isCondition := strings.ContainsAny(extra, "=<>~ ")
	if isCondition {
		return []string{fmt.Sprintf("--where %q", extra)}
	}
	var suggested []string
	hasFields := c.IsSet("fields") || c.Bool("json")
	if flags.Has("fields") && hasFields {
		fields := append(c.StringSlice("fields"), extra)
		suggested = append(suggested, "--fields "+strings.Join(fields, ","))
	}
	return append(suggested, fmt.Sprintf("--where %q", "FIELD="+extra))
}

// arity returns the number of arguments that a command accepts; maximum is -1 if
// there is no limit.
func arity(usage string) (minimum, maximum int) {
	for word := range strings.FieldsSeq(usage) {
		if !strings.HasPrefix(word, "[") {
			minimum++
		}
		maximum++
		if strings.Contains(word, "...") {
			return minimum, -1
		}
	}
	return minimum, maximum
}

// FindCommand returns the command at a path of names or aliases; nil if there is
// none.
func FindCommand(commands []*cli.Command, path []string) *cli.Command {
	var found *cli.Command
	for _, word := range path {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if i < 0 {
			return nil
		}
		found = commands[i]
		commands = found.Subcommands
	}
	return found
}

// visible returns the commands that help lists.
func visible(commands []*cli.Command) []*cli.Command {
	return slices.DeleteFunc(slices.Clone(commands), func(c *cli.Command) bool { return c.Hidden })
}
