package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// unknownCommand returns the error of a word that does not name a command of the group at a path,
// or of the program if the path is empty. A word close to an alias suggests the command's name.
func unknownCommand(app *cli.App, path []string, word string) error {
	if len(path) == 0 {
		return Usagef("unknown command %q%s", word, record.DidYouMean(SuggestCommands(app.Commands, word)))
	}
	groupPath := strings.Join(path, " ")
	group := FindCommand(app.Commands, path)
	suggested := suggestPhrases(app, group, groupPath, word)
	if suggested == nil {
		suggested = SuggestCommands(group.Subcommands, word)
	}
	hint := record.DidYouMean(suggested)
	if hint == "" {
		var names []string
		for _, c := range visible(group.Subcommands) {
			names = append(names, c.Name)
		}
		hint = "; it has " + strings.Join(names, ", ")
	}
	return Usagef("%s has no command %q%s", groupPath, word, hint)
}

// suggestPhrases returns the commands that a word after a group suggests: those for the same words
// of another program, and, if the word is like no command of the group, those that take it as an
// argument.
func suggestPhrases(app *cli.App, group *cli.Command, path, word string) []string {
	isArgument := SuggestCommands(group.Subcommands, word) == nil
	var suggested []string
	for _, f := range familiar {
		command := app.Name + " " + f.own
		if f.has(path + " " + word) {
			suggested = append(suggested, command)
		}
		if isArgument && f.has(path+" *") {
			suggested = append(suggested, command+" "+word)
		}
	}
	return suggested
}

// SuggestCommands returns the names of the commands for a word of another program, or else of
// those with a name or alias like the word.
func SuggestCommands(commands []*cli.Command, word string) []string {
	isCommand := func(f familiarRow) bool { return FindCommand(commands, f.command()) != nil }
	if names := familiarNames(word, isCommand); len(names) > 0 {
		return names
	}

	var spellings []string
	canonical := make(map[string]string) // by spelling
	for _, c := range visible(commands) {
		for _, spelling := range c.Names() {
			spellings = append(spellings, spelling)
			canonical[spelling] = c.Name
		}
	}
	var suggested []string
	for _, spelling := range record.Suggest(word, spellings) {
		if name := canonical[spelling]; !slices.Contains(suggested, name) {
			suggested = append(suggested, name)
		}
	}
	return suggested
}

// unknownFlag returns the error of a flag that the command does not have, or of one without a
// command that the program does not have.
func (r *reorderer) unknownFlag(name string) error {
	written := dashed(name)
	if len(r.Path) > 0 {
		return Usagef("%s has no flag %s%s", r.command(), written, r.flagAdvice(name))
	}
	if command := commandWithFlag(r.app.Commands, name, ""); command != "" {
		return Usagef("no command given; did you mean %s %s %s?", r.app.Name, command, written)
	}
	suggested := r.familiar(written)
	if suggested == nil {
		suggested = r.similarFlags(name)
	}
	return Usagef("unknown flag %s%s", written, record.DidYouMean(suggested))
}

// flagAdvice returns the end of the error of a flag that the command does not have: a flag with its
// meaning or with a similar name, the argument of its name, the commands of the group that have it,
// or else the flags that the command has.
func (r *reorderer) flagAdvice(name string) string {
	familiar := r.familiar(dashed(name))
	if slices.Contains(familiar, "--"+newPassword+"-file") {
		return r.secretLine()
	}
	if familiar != nil {
		return record.DidYouMean(familiar)
	}
	if similar := r.similarFlags(name); len(similar) > 0 {
		return record.DidYouMean(similar)
	}
	if r.listsAll(name) {
		return "; it lists all: leave " + dashed(name) + " out"
	}
	argument := strings.ToUpper(name)
	usage := FindCommand(r.app.Commands, r.Path).ArgsUsage
	if slices.Contains(strings.Fields(usage), argument) {
		return fmt.Sprintf("; %s is an argument: %s %s %s", argument, r.app.Name, r.command(), usage)
	}
	return cmp.Or(record.DidYouMean(r.siblings(name)), r.flagList())
}

// listsAll reports whether a flag would limit the rows of a command that always lists all.
func (r *reorderer) listsAll(name string) bool {
	isList := r.Path[len(r.Path)-1] == "list"
	isLimit := func(f familiarRow) bool { return f.own == "--take" && f.understands(dashed(name)) }
	return isList && !r.local.Has("take") && (name == "take" || slices.ContainsFunc(familiar, isLimit))
}

// similarFlags returns the flags of the command and of the program with a name like another one.
func (r *reorderer) similarFlags(name string) []string {
	if len(name) == 1 { // all letters are alike
		return nil
	}
	return record.Suggest(dashed(name), append(r.local.names(), r.globals.names()...))
}

// secretHint returns how a secret is given to a flag of the command; see the function.
func (r *reorderer) secretHint(name string) string { return secretHint(r.local, name) }

// secretLine returns the command lines that set a password, for a flag that has it as its value.
func (r *reorderer) secretLine() string {
	line := strings.Join(append([]string{r.app.Name}, r.Path...), " ")
	if len(r.Args) > 0 {
		line += " " + r.Args[0]
	}
	prompts := ""
	if r.local.Has(newPassword) {
		prompts = line + " --" + newPassword + " prompts for it, "
	}
	return ", because other users can read a command line: " + prompts +
		line + " --" + newPassword + "-file FILE reads it (- is standard input)"
}

// group returns the path of the group of commands that the line names, or of that of its command.
func (r *reorderer) group() []string {
	command := FindCommand(r.app.Commands, r.Path)
	if command != nil && len(command.Subcommands) > 0 {
		return r.Path
	}
	return r.Path[:max(0, len(r.Path)-1)]
}

// siblings returns the commands of the group, or of that of the command, that have a flag.
func (r *reorderer) siblings(name string) []string {
	group := r.group()
	command := FindCommand(r.app.Commands, group)
	if command == nil {
		return nil
	}
	var suggested []string
	for _, c := range visible(command.Subcommands) {
		sibling := &reorderer{app: r.app, globals: FlagTable{}, local: FlagTable{}.Add(c.Flags)}
		sibling.Path = append(slices.Clone(group), c.Name)
		if sibling.knows(name) {
			line := slices.Concat([]string{r.app.Name}, sibling.Path, []string{dashed(name)})
			suggested = append(suggested, strings.Join(line, " "))
		}
	}
	return suggested
}

// maxFlagList is the maximum number of flags that an error lists.
const maxFlagList = 16

// flagList returns the flags of the command as a hint, without those for its output, which many
// commands share; empty for a group, or if there are many.
func (r *reorderer) flagList() string {
	shared := []string{
		"format", "output", "null", "excel", "jq", "no-headers", "table", "csv", "tsv", "json", "ndjson",
		"yes", "confirm",
	}
	var names []string
	for _, f := range FindCommand(r.app.Commands, r.Path).Flags {
		if name := f.Names()[0]; Visible(f) && !slices.Contains(shared, name) {
			names = append(names, "--"+name)
		}
	}
	if len(names) == 0 || len(names) > maxFlagList {
		return ""
	}
	return "; it has " + strings.Join(names, ", ")
}

// familiar returns the flag, or else the commands of the same group, for a flag of
// another program.
func (r *reorderer) familiar(written string) []string {
	group := r.group()
	isKnown := func(f familiarRow) bool {
		if f.isFlag() || f.isArgument() {
			return r.accepts(f)
		}
		return FindCommand(r.app.Commands, slices.Concat(group, f.command())) != nil
	}
	var commands []string
	for _, name := range familiarNames(written, isKnown) {
		if strings.HasPrefix(name, "--") {
			return []string{name}
		}
		words := slices.Concat([]string{r.app.Name}, group, []string{name})
		commands = append(commands, strings.Join(words, " "))
	}
	return commands
}

// commandWithFlag returns the first command that has a flag; empty if there is
// none.
func commandWithFlag(commands []*cli.Command, flag, path string) string {
	for _, c := range commands {
		name := strings.TrimSpace(path + " " + c.Name)
		if (FlagTable{}).Add(c.Flags).Has(flag) {
			return name
		}
		if command := commandWithFlag(c.Subcommands, flag, name); command != "" {
			return command
		}
	}
	return ""
}
