package cli

import (
	_ "embed"
	"fmt"
	"io"
	"path"
	"path/filepath"
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

// LoginShell returns the shell of the variable SHELL; empty if it has no completion script.
func LoginShell(env func(string) string) string {
	name := path.Base(filepath.ToSlash(env("SHELL")))
	if !slices.Contains(Shells, name) {
		return ""
	}
	return name
}

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
	others := FamiliarCommands(commands)
	if strings.HasPrefix(current, "-") {
		lines = flagLines(flags, current)
		others = FamiliarFlags(FlagTable{}.Add(flags))
	}
	if lines == "" {
		for _, w := range MatchFamiliar(others, current) {
			lines += fmt.Sprintf("%s\tthe same as %s\n", w.Word, w.Own)
		}
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

// MatchFamiliar returns the words of other programs with a prefix; none for an empty one. They
// complete a line that no own word completes.
func MatchFamiliar(words []FamiliarWord, prefix string) []FamiliarWord {
	if prefix == "" {
		return nil
	}
	return slices.DeleteFunc(words, func(w FamiliarWord) bool {
		return !strings.HasPrefix(w.Word, prefix)
	})
}

// afterWords returns the commands and flags that can follow the words of a line. After the
// name of a flag that takes a value there are none.
func afterWords(app *cli.App, words []string) (commands []*cli.Command, flags []cli.Flag) {
	table := (FlagTable{}).Add(app.Flags).AddCommands(app.Commands)
	var line []string
	isValue := false // the next word is the value of a flag
	for _, word := range words {
		name := strings.TrimLeft(word, "-")
		switch {
		case isValue:
			isValue = false
		case name == word:
			line = append(line, word)
		default:
			isValue = table.TakesValue(name)
		}
	}
	if isValue {
		return nil, nil
	}

	commands = app.Commands
	flags = app.Flags
	path, args := CommandAt(app, line)
	for i := range path {
		command := FindCommand(app.Commands, path[:i+1])
		commands = command.Subcommands
		flags = slices.Concat(flags, command.Flags)
	}
	if len(args) > 0 {
		commands = nil
	}
	return commands, flags
}
