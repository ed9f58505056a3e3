// Package cli implements the parts of a command line that whd and whctl share:
// argument order, terminal prompts, exit codes, help and error output. It does not
// import the client or its HTTP library, because whd must not link them.
package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// urfave/cli stops parsing flags at the first positional argument and treats later
// flags as arguments. ReorderArgs therefore reads the command line itself, using the
// command table, and moves the flags to where the library reads them.

// Line is a command line split into its parts.
type Line struct {
	Globals []string // flags of the program
	Path    []string // command and subcommand, by their canonical names
	Flags   []string // flags of the command
	Args    []string // positional arguments

	IsGroup bool // there is no command, or a group of commands without a subcommand
}

// Argv returns the line in the order that urfave/cli expects.
func (l Line) Argv(name string) []string {
	words := slices.Concat([]string{name}, l.Globals, l.Path, l.Flags)
	if len(l.Args) > 0 {
		words = append(append(words, "--"), l.Args...)
	}
	return words
}

// has reports whether a switch of the program is set.
func (l Line) has(flag string) bool {
	return slices.ContainsFunc(l.Globals, func(word string) bool {
		name, value, hasValue := strings.Cut(word, "=")
		if on, err := strconv.ParseBool(value); hasValue && err == nil && !on {
			return false
		}
		return name == "--"+flag
	})
}

// Flag describes a flag that a word on the command line refers to.
type Flag struct {
	Name       string // the long name
	TakesValue bool
	Argument   string // the name of the value in help, such as FILE

	rejectFlagValue bool // a next word that starts with -- is not the value; set for the settings of whd
}

// FlagTable finds flags by any of their names.
type FlagTable map[string]Flag

// Add adds flags under all of their names.
func (o FlagTable) Add(flags []cli.Flag) FlagTable {
	for _, f := range flags {
		documented, ok := f.(cli.DocGenerationFlag)
		names := f.Names() // computed by each call
		flag := Flag{Name: names[0], TakesValue: ok && documented.TakesValue()}
		if ok {
			flag.Argument, _ = UnquoteUsage(documented.GetUsage())
		}
		if named, ok := f.(placeholder); ok {
			flag.Argument = named.Placeholder()
			flag.rejectFlagValue = flag.Argument != ""
		}
		for _, name := range names {
			o[name] = flag
		}
	}
	return o
}

// AddCommands adds the flags of all commands. They decide whether a flag that
// precedes its command takes the next word as its value.
func (o FlagTable) AddCommands(commands []*cli.Command) FlagTable {
	for _, c := range commands {
		o.Add(c.Flags).AddCommands(c.Subcommands)
	}
	return o
}

// names returns the long names with their dashes, sorted, without aliases.
func (o FlagTable) names() []string {
	var names []string
	for _, f := range o {
		names = append(names, "--"+f.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// writtenFlag is a flag as written on the command line.
type writtenFlag struct {
	name     string
	value    string
	hasValue bool
	position int // position of the word on the line
}

// reorderer is the state of ReorderArgs.
type reorderer struct {
	Line
	app      *cli.App
	globals  FlagTable
	local    FlagTable        // flags of the command found so far
	allFlags func() FlagTable // flags of all commands, seldom needed
	commands []*cli.Command   // candidates for the next word
	flags    []writtenFlag
	firstArg int // position of the first positional argument
}

// ReorderArgs splits a command line into its parts. Every error is a *UsageError; the
// line that is returned with an error still shows whether help is requested.
func ReorderArgs(app *cli.App, args []string) (Line, error) {
	r := reorderer{
		app:      app,
		globals:  FlagTable{}.Add(app.Flags),
		local:    FlagTable{},
		allFlags: sync.OnceValue(func() FlagTable { return FlagTable{}.AddCommands(app.Commands) }),
		commands: app.Commands,
	}
	var flagErr error // of the flag at flagPosition
	flagPosition := len(args)
	for i := 0; i < len(args) && flagErr == nil; i++ {
		switch word := args[i]; {
		case word == "--":
			for i++; i < len(args); i++ { // the command may follow
				r.word(i, args[i])
			}
		case len(word) > 1 && word[0] == '-':
			flagPosition = i
			i, flagErr = r.flag(i, args)
		default:
			r.word(i, word)
		}
	}
	if position, err := r.place(); err != nil && (flagErr == nil || position < flagPosition) {
		flagPosition, flagErr = position, err
	}
	isGroup := len(r.commands) > 0
	hasUnknownCommand := isGroup && len(r.Args) > 0
	if hasUnknownCommand && (flagErr == nil || r.firstArg < flagPosition) {
		return r.Line, unknownCommand(r.commands, r.command(), r.Args[0])
	}
	if flagErr != nil {
		return r.Line, flagErr
	}
	r.IsGroup = isGroup
	return r.Line, nil
}

// word reads a word that is not a flag: a command if one can follow here, else an
// argument.
func (r *reorderer) word(position int, word string) {
	if len(r.Args) == 0 {
		for _, c := range r.commands {
			if c.HasName(word) {
				r.Path = append(r.Path, c.Name)
				r.local.Add(c.Flags)
				r.commands = c.Subcommands
				return
			}
		}
		r.firstArg = position
	}
	r.Args = append(r.Args, word)
}

// flag reads the flag args[i], and the next word if that is its value. It returns
// the index of the last word that was read.
func (r *reorderer) flag(i int, args []string) (int, error) {
	word, following := args[i], args[i+1:]
	g := writtenFlag{position: i}
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	g.name, g.value, g.hasValue = strings.Cut(name, "=")
	f := r.find(g.name)
	if f.TakesValue && !g.hasValue {
		isForeign := !r.local.Has(g.name) && !r.globals.Has(g.name)
		if isForeign && len(following) == 0 {
			return i, r.unknownFlag(g.name) // a flag of another command, and no command can follow
		}
		if len(following) == 0 || f.rejectFlagValue && strings.HasPrefix(following[0], "--") {
			return i, Usagef("%s needs a value: %s %s", word, word, f.Argument)
		}
		i++
		g.value = following[0]
		g.hasValue = true
	}
	isSwitch := f.Name != "" && !f.TakesValue
	if isSwitch && g.hasValue {
		on, err := strconv.ParseBool(g.value)
		if err != nil { // the value is not repeated: it may be a password
			return i, Usagef("%s takes no value, except =true or =false", strings.TrimSuffix(word, "="+g.value))
		}
		g.value = strconv.FormatBool(on)
	}
	r.flags = append(r.flags, g)
	return i, nil
}

// find looks a flag up, first among those of the command, then of the program,
// then of all commands. An unknown flag is empty.
func (r *reorderer) find(name string) Flag {
	for _, known := range []FlagTable{r.local, r.globals} {
		if f, ok := known[name]; ok {
			return f
		}
	}
	return r.allFlags()[name]
}

// place sorts the flags into those of the program and those of the command. Each
// is written as one word, with its long name and its value, so that no later
// parser can misread it. It returns the position of the first unknown flag with
// an error.
func (r *reorderer) place() (position int, err error) {
	for _, g := range r.flags {
		f, isLocal := r.local[g.name]
		isGlobal := false
		if !isLocal {
			f, isGlobal = r.globals[g.name]
		}
		word := "--" + f.Name
		if g.hasValue {
			word += "=" + g.value
		}
		switch {
		case isLocal:
			r.Flags = append(r.Flags, word)
		case isGlobal:
			r.Line.Globals = append(r.Line.Globals, word)
		case err == nil:
			position, err = g.position, r.unknownFlag(g.name)
		}
	}
	return position, err
}

// unknownFlag returns the error of a flag that the command does not have. It only
// suggests flags that the command does have.
func (r *reorderer) unknownFlag(name string) error {
	written := "--" + name
	if len(name) == 1 {
		written = "-" + name
	}
	if command := commandWithFlag(r.app.Commands, name, ""); command != "" && len(r.Path) == 0 {
		return Usagef("no command given; did you mean %s %s %s?", r.app.Name, command, written)
	}
	suggested := r.familiar(written)
	if suggested == nil && len(name) > 1 {
		suggested = record.Suggest(written, append(r.local.names(), r.globals.names()...))
	}
	near := record.DidYouMean(suggested)
	if command := r.command(); command != "" {
		usage := FindCommand(r.app.Commands, r.Path).ArgsUsage
		if near == "" && slices.Contains(strings.Fields(usage), strings.ToUpper(name)) {
			near = fmt.Sprintf("; %s is an argument: %s %s %s", strings.ToUpper(name), r.app.Name, command, usage)
		}
		return Usagef("%s has no flag %s%s", command, written, near)
	}
	return Usagef("unknown flag %s%s", written, near)
}

// familiar returns the flag, or else the commands of the same group, for a flag of
// another program.
func (r *reorderer) familiar(written string) []string {
	group := r.Path[:max(0, len(r.Path)-1)]
	isKnown := func(name string) bool {
		flag, isFlag := strings.CutPrefix(strings.Fields(name)[0], "--")
		if isFlag {
			return r.local.Has(flag) || r.globals.Has(flag)
		}
		return FindCommand(r.app.Commands, append(slices.Clone(group), name)) != nil
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
		if found := commandWithFlag(c.Subcommands, flag, name); found != "" {
			return found
		}
	}
	return ""
}

// command returns the path as written on a command line.
func (r *reorderer) command() string { return strings.Join(r.Path, " ") }

// Has reports whether the table has a flag of this name.
func (o FlagTable) Has(flag string) bool {
	_, ok := o[flag]
	return ok
}
