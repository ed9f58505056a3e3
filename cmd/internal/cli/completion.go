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

// PrintCompletions is CompleteCommand for a program that only completes commands and
// flags: it prints a line for each candidate, with the word, a tab and its meaning.
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

	commands, flags := afterWords(app, words[1:cursor])
	lines := commandLines(commands, current)
	if strings.HasPrefix(current, "-") {
		lines = flagLines(flags, current)
	}
	_, err = io.WriteString(app.Writer, lines)
	return err
}

// commandLines returns the lines of PrintCompletions for the commands with a prefix.
func commandLines(commands []*cli.Command, prefix string) string {
	var lines strings.Builder
	for _, c := range commands {
		if !c.Hidden && strings.HasPrefix(c.Name, prefix) {
			fmt.Fprintf(&lines, "%s\t%s\n", c.Name, c.Usage)
		}
	}
	return lines.String()
}

// flagLines returns the lines of PrintCompletions for the flags with a prefix.
func flagLines(flags []cli.Flag, prefix string) string {
	var lines strings.Builder
	for _, f := range flags {
		name := "--" + f.Names()[0]
		if Visible(f) && strings.HasPrefix(name, prefix) {
			_, usage := FlagHelp(f)
			fmt.Fprintf(&lines, "%s\t%s\n", name, usage)
		}
	}
	return lines.String()
}

// afterWords returns the commands and flags that can follow the words of a line. After the
// name of a flag that takes a value there are none.
func afterWords(app *cli.App, words []string) (commands []*cli.Command, flags []cli.Flag) {
	table := (FlagTable{}).Add(app.Flags).AddCommands(app.Commands)
	commands = app.Commands
	flags = app.Flags
	isValue := false // the next word is the value of a flag
	for _, word := range words {
		if isValue {
			isValue = false
			continue
		}
		name := strings.TrimLeft(word, "-")
		if name != word {
			isValue = table[name].TakesValue
			continue
		}
		if command := FindCommand(commands, []string{word}); command != nil {
			commands = command.Subcommands
			flags = slices.Concat(flags, command.Flags)
		}
	}
	if isValue {
		return nil, nil
	}
	return commands, flags
}
