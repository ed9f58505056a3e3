package cli

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// The scripts only pass the line to the program, so they do not depend on its
// version. They contain PROGRAM in place of its name.
var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
	//go:embed completion.ps1
	powerShellScript string
)

// CompleteCommand is the hidden command that the completion scripts call. Its arguments
// are the name of the shell, the index of the word at the cursor, and all words of the
// line, including the program.
const CompleteCommand = "__complete"

// Shells has the shells with a completion script.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// PrintCompletion writes the completion script of a program for a shell.
func PrintCompletion(to io.Writer, program, shell string) error {
	for i, script := range []string{bashScript, zshScript, fishScript, powerShellScript} {
		if Shells[i] == shell {
			_, err := io.WriteString(to, strings.ReplaceAll(script, "PROGRAM", program))
			return err
		}
	}
	hint := record.DidYouMeanOr(record.Suggest(shell, Shells), "shells: "+strings.Join(Shells, ", "))
	return Usagef("no completion script for %q%s", shell, hint)
}

// PrintCompletions is CompleteCommand for a program of which only commands and flags are
// completed: it prints a line for each candidate, the word, a tab and its meaning.
func PrintCompletions(app *cli.App, args []string) error {
	if len(args) < 3 {
		return Usagef("%s takes SHELL CURSOR WORDS...", CompleteCommand)
	}
	words := args[2:]
	cursor, err := strconv.Atoi(args[1])
	if err != nil || cursor < 1 || cursor > len(words) {
		return Usagef("%s: invalid word index %s", CompleteCommand, args[1])
	}
	current := ""
	if cursor < len(words) {
		current = words[cursor]
	}
	subcommands, flags := afterWords(app, words[1:cursor])
	var text strings.Builder
	if strings.HasPrefix(current, "-") {
		for _, f := range flags {
			name := "--" + f.Names()[0]
			if Visible(f) && strings.HasPrefix(name, current) {
				_, usage := FlagHelp(f)
				fmt.Fprintf(&text, "%s\t%s\n", name, usage)
			}
		}
	} else {
		for _, c := range subcommands {
			if !c.Hidden && strings.HasPrefix(c.Name, current) {
				fmt.Fprintf(&text, "%s\t%s\n", c.Name, c.Usage)
			}
		}
	}
	_, err = io.WriteString(app.Writer, text.String())
	return err
}

// afterWords returns the commands and flags that can follow the words of a line. After the
// name of a flag that takes a value there are none.
func afterWords(app *cli.App, words []string) (commands []*cli.Command, flags []cli.Flag) {
	table := (FlagTable{}).Add(app.Flags).AddCommands(app.Commands)
	commands, flags = app.Commands, app.Flags
	for i := 0; i < len(words); i++ {
		if name := strings.TrimLeft(words[i], "-"); name != words[i] {
			if table[name].TakesValue {
				i++
				if i == len(words) {
					return nil, nil
				}
			}
			continue
		}
		if command := FindCommand(commands, words[i:i+1]); command != nil {
			commands = command.Subcommands
			flags = slices.Concat(flags, command.Flags)
		}
	}
	return commands, flags
}
