// Package cli is what the command lines of whd and whctl have in common: the order
// of arguments, questions on the terminal, exit codes and the printing of errors.
// It imports neither the client nor its HTTP library, since whd links neither.
package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// The library stops reading flags at the first positional argument and drops
// the rest without a word. ReorderArgs therefore reads the command line by the
// command table and puts flags where the library sees them.

// Line is a command line in parts.
type Line struct {
	Globals []string // flags of the program
	Path    []string // command and subcommand
	Flags   []string // flags of the command
	Args    []string // positional arguments
}

// Argv is the line in the order that the library reads.
func (l Line) Argv(name string) []string {
	words := slices.Concat([]string{name}, l.Globals, l.Path, l.Flags)
	if len(l.Args) > 0 {
		words = append(append(words, "--"), l.Args...)
	}
	return words
}

// has reports whether a global flag is given.
func (l Line) has(flag string) bool {
	return slices.ContainsFunc(l.Globals, func(word string) bool {
		return word == "--"+flag || strings.HasPrefix(word, "--"+flag+"=")
	})
}

// Flag is what a name of a flag stands for.
type Flag struct {
	Name       string // the long one
	TakesValue bool

	placeholder string // of a setting of whd: a next word that begins with dashes is no value
}

// FlagTable finds flags by each of their names.
type FlagTable map[string]Flag

// Add takes up flags under all of their names.
func (o FlagTable) Add(flags []cli.Flag) FlagTable {
	for _, f := range flags {
		documented, ok := f.(cli.DocGenerationFlag)
		one := Flag{Name: f.Names()[0], TakesValue: ok && documented.TakesValue()}
		if named, ok := f.(placeholder); ok {
			one.placeholder = named.Placeholder()
		}
		for _, name := range f.Names() {
			o[name] = one
		}
	}
	return o
}

// AddCommands is what any command's flags mean. It decides whether a flag that
// comes before its command takes the next word.
func (o FlagTable) AddCommands(commands []*cli.Command) FlagTable {
	for _, c := range commands {
		o.Add(c.Flags).AddCommands(c.Subcommands)
	}
	return o
}

// names are the long names, for suggestions.
func (o FlagTable) names() []string {
	var names []string
	for name := range o {
		if len(name) > 1 {
			names = append(names, "--"+name)
		}
	}
	slices.Sort(names)
	return names
}

// given is a flag as it was written.
type given struct {
	name     string
	value    string
	hasValue bool
}

// reorderer is the work of ReorderArgs.
type reorderer struct {
	Line
	globals  FlagTable
	local    FlagTable // of the command found so far
	anywhere FlagTable
	commands []*cli.Command // that the next word may name
	given    []given
}

// ReorderArgs reads a command line. Its error is a *UsageError; the line is good for
// finding out whether help is asked for even then.
func ReorderArgs(app *cli.App, args []string) (Line, error) {
	r := reorderer{
		globals:  FlagTable{}.Add(app.Flags),
		local:    FlagTable{},
		anywhere: FlagTable{}.AddCommands(app.Commands),
		commands: app.Commands,
	}
	var wrong error
	for len(args) > 0 && wrong == nil {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			r.Args = append(r.Args, args...)
			args = nil
		case len(word) > 1 && word[0] == '-':
			args, wrong = r.flag(word, args)
		default:
			r.word(word)
		}
	}
	if err := r.place(); wrong == nil {
		wrong = err
	}
	if wrong == nil && len(r.commands) > 0 && len(r.Path)+len(r.Args) > 0 {
		word := ""
		if len(r.Args) > 0 {
			word = r.Args[0]
		}
		wrong = noCommand(r.commands, r.command(), word)
	}
	return r.Line, wrong
}

// word takes a word that is no flag: a command where one may be, else an
// argument.
func (r *reorderer) word(word string) {
	if len(r.Args) == 0 {
		for _, c := range r.commands {
			if c.HasName(word) {
				r.Path = append(r.Path, c.Name)
				r.local.Add(c.Flags)
				r.commands = c.Subcommands
				return
			}
		}
	}
	r.Args = append(r.Args, word)
}

// flag takes a flag, and the next word where that is its value.
func (r *reorderer) flag(word string, rest []string) ([]string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	g := given{}
	g.name, g.value, g.hasValue = strings.Cut(name, "=")
	if o, _ := r.find(g.name); o.TakesValue && !g.hasValue {
		switch {
		case o.placeholder != "" && (len(rest) == 0 || strings.HasPrefix(rest[0], "--")):
			return nil, Usagef("%s needs a value: %s %s", word, word, o.placeholder)
		case len(rest) == 0:
			return nil, Usagef("%s needs a value", word)
		}
		g.value, g.hasValue = rest[0], true
		rest = rest[1:]
	}
	r.given = append(r.given, g)
	return rest, nil
}

// find looks in what is most likely meant first.
func (r *reorderer) find(name string) (Flag, bool) {
	for _, known := range []FlagTable{r.local, r.globals, r.anywhere} {
		if o, ok := known[name]; ok {
			return o, true
		}
	}
	return Flag{}, false
}

// place sorts the flags into the program's and the command's. Each is written
// with its long name and its value in one word, so that nothing can be taken
// for something else later.
func (r *reorderer) place() error {
	var wrong error
	for _, g := range r.given {
		o, isLocal := r.local[g.name]
		isGlobal := false
		if !isLocal {
			o, isGlobal = r.globals[g.name]
		}
		word := "--" + o.Name
		if g.hasValue {
			word += "=" + g.value
		}
		switch {
		case isLocal:
			r.Flags = append(r.Flags, word)
		case isGlobal:
			r.Line.Globals = append(r.Line.Globals, word)
		case wrong == nil:
			wrong = r.noFlag(g.name)
		}
	}
	return wrong
}

// noFlag suggests only what the command really takes.
func (r *reorderer) noFlag(name string) error {
	written := "--" + name
	if len(name) == 1 {
		written = "-" + name
	}
	near := record.Suggest(written, append(r.local.names(), r.globals.names()...))
	message := fmt.Sprintf("no flag %s%s", written, record.DidYouMean(near))
	if c := r.command(); c != "" {
		message = fmt.Sprintf("%s has no flag %s%s", c, written, record.DidYouMean(near))
	}
	return Usagef("%s", message)
}

// command is the path as it is written.
func (r *reorderer) command() string { return strings.Join(r.Path, " ") }

// Has reports whether a flag is one of these.
func (o FlagTable) Has(flag string) bool {
	_, known := o[flag]
	return known
}
