package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
)

// The library stops reading flags at the first positional argument and drops
// the rest without a word. hoist therefore reads the command line by the
// command table and puts flags where the library sees them.

// line is a command line in parts.
type line struct {
	globals []string // flags of the program
	path    []string // command and subcommand
	flags   []string // flags of the command
	args    []string // positional arguments
}

// argv is the line in the order that the library reads.
func (l line) argv(name string) []string {
	words := slices.Concat([]string{name}, l.globals, l.path, l.flags)
	if len(l.args) > 0 {
		words = append(append(words, "--"), l.args...)
	}
	return words
}

// has reports whether a global flag is given.
func (l line) has(flag string) bool {
	return slices.ContainsFunc(l.globals, func(word string) bool {
		return word == "--"+flag || strings.HasPrefix(word, "--"+flag+"=")
	})
}

// option is a flag that a name stands for.
type option struct {
	name  string // the long one
	value bool   // takes a value
}

type options map[string]option

// add takes up flags under all of their names.
func (o options) add(flags []cli.Flag) options {
	for _, f := range flags {
		documented, ok := f.(cli.DocGenerationFlag)
		one := option{name: f.Names()[0], value: ok && documented.TakesValue()}
		for _, name := range f.Names() {
			o[name] = one
		}
	}
	return o
}

// everywhere is what any command's flags mean. It decides whether a flag that
// stands before its command takes the next word.
func (o options) everywhere(commands []*cli.Command) options {
	for _, c := range commands {
		o.add(c.Flags).everywhere(c.Subcommands)
	}
	return o
}

// names are the long names, for suggestions.
func (o options) names() []string {
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

// hoister is the work of hoist.
type hoister struct {
	line
	globals  options
	local    options // of the command found so far
	anywhere options
	commands []*cli.Command // that the next word may name
	given    []given
}

// hoist reads a command line. Its error is a *usageError; the line is good for
// finding out whether help is asked for even then.
func hoist(app *cli.App, args []string) (line, error) {
	h := hoister{
		globals:  options{}.add(app.Flags),
		local:    options{},
		anywhere: options{}.everywhere(app.Commands),
		commands: app.Commands,
	}
	var wrong error
	for len(args) > 0 && wrong == nil {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			h.args = append(h.args, args...)
			args = nil
		case len(word) > 1 && word[0] == '-':
			args, wrong = h.flag(word, args)
		default:
			h.word(word)
		}
	}
	if err := h.place(); wrong == nil {
		wrong = err
	}
	if wrong == nil && len(h.commands) > 0 && len(h.path)+len(h.args) > 0 {
		word := ""
		if len(h.args) > 0 {
			word = h.args[0]
		}
		wrong = noCommand(h.commands, h.command(), word)
	}
	return h.line, wrong
}

// word takes a word that is no flag: a command where one may stand, else an
// argument.
func (h *hoister) word(word string) {
	if len(h.args) == 0 {
		for _, c := range h.commands {
			if c.HasName(word) {
				h.path = append(h.path, c.Name)
				h.local.add(c.Flags)
				h.commands = c.Subcommands
				return
			}
		}
	}
	h.args = append(h.args, word)
}

// flag takes a flag, and the next word where that is its value.
func (h *hoister) flag(word string, rest []string) ([]string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	g := given{}
	g.name, g.value, g.hasValue = strings.Cut(name, "=")
	if o, _ := h.find(g.name); o.value && !g.hasValue {
		if len(rest) == 0 {
			return nil, usagef("%s needs a value", word)
		}
		g.value, g.hasValue = rest[0], true
		rest = rest[1:]
	}
	h.given = append(h.given, g)
	return rest, nil
}

// find looks in what is most likely meant first.
func (h *hoister) find(name string) (option, bool) {
	for _, known := range []options{h.local, h.globals, h.anywhere} {
		if o, ok := known[name]; ok {
			return o, true
		}
	}
	return option{}, false
}

// place sorts the flags into the program's and the command's. Each is written
// with its long name and its value in one word, so that nothing can be taken
// for something else later.
func (h *hoister) place() error {
	var wrong error
	for _, g := range h.given {
		o, isLocal := h.local[g.name]
		isGlobal := false
		if !isLocal {
			o, isGlobal = h.globals[g.name]
		}
		word := "--" + o.name
		if g.hasValue {
			word += "=" + g.value
		}
		switch {
		case isLocal:
			h.flags = append(h.flags, word)
		case isGlobal:
			h.line.globals = append(h.line.globals, word)
		case wrong == nil:
			wrong = h.noFlag(g.name)
		}
	}
	return wrong
}

// noFlag suggests only what the command really takes.
func (h *hoister) noFlag(name string) error {
	written := "--" + name
	if len(name) == 1 {
		written = "-" + name
	}
	near := record.Near(written, append(h.local.names(), h.globals.names()...))
	message := fmt.Sprintf("no flag %s%s", written, didYouMean(near))
	if c := h.command(); c != "" {
		message = fmt.Sprintf("%s has no flag %s%s", c, written, didYouMean(near))
	}
	return usagef("%s", message)
}

// command is the path as it is written.
func (h *hoister) command() string { return strings.Join(h.path, " ") }
