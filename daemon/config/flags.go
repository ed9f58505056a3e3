package config

import (
	"reflect"
	"slices"
	"strings"
)

// Flag is a command-line flag of a setting.
type Flag struct {
	Name     string
	Argument string // placeholder of the value; empty for a boolean flag, which means "true" without a value
	Help     string
	Set      func(text string)
}

// Flags returns the flags of the named settings, or of all settings if names is empty.
// The flags append their values to l. The flag of a secret accepts the name of a file,
// since other users of the machine can read a program's arguments. store has both
// flags, since its value is not always secret.
func Flags(l *Layer, names ...string) (flags []Flag) {
	for _, s := range table {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if !s.inFileOnly() {
			flags = append(flags, valueFlag(l, s))
		}
		if s.secret() {
			flags = append(flags, fileFlag(l, s))
		}
	}
	return flags
}

// inFileSuffix is the suffix of flags that name a secret's file.
var inFileSuffix = strings.ReplaceAll(fileSuffix, "_", "-")

// valueFlag returns the flag for the value of a setting.
func valueFlag(l *Layer, s Setting) Flag {
	help := s.Help
	if s.Default != "" && s.Default != "false" {
		help += " (default " + s.Default + ")"
	}
	origin := Origin("flag --" + s.Flag())
	set := func(text string) { l.add(assignment{setting: s, text: text, origin: origin}) }
	return Flag{Name: s.Flag(), Argument: argumentName(s), Help: help, Set: set}
}

// fileFlag returns the flag for the file with the value of a secret setting.
func fileFlag(l *Layer, s Setting) Flag {
	name := strings.TrimSuffix(s.Flag(), inFileSuffix) + inFileSuffix
	help := "file with the " + s.Help
	if s.Flag() != name {
		help = "file with the value of --" + s.Flag() +
			", because other users of the machine can see command-line arguments"
	}
	origin := Origin("flag --" + name)
	set := func(text string) {
		l.add(assignment{setting: s, text: text, inFile: true, origin: origin})
	}
	return Flag{Name: name, Argument: "FILE", Help: help, Set: set}
}

// add appends a flag's value. Repeated flags of a list accumulate.
func (l *Layer) add(g assignment) {
	previous := lastAssignment(g.setting.Name, *l)
	kind := g.setting.kind().toml
	isList := kind == reflect.Slice || kind == reflect.Map
	if isList && previous.text != "" {
		g.text = previous.text + "," + g.text
	}
	*l = append(*l, g)
}

// argumentName returns the placeholder of a setting's value in help.
func argumentName(s Setting) string {
	if s.argument != "" {
		return s.argument
	}
	if len(s.choices) > 0 {
		return strings.Join(s.choices, "|")
	}
	return s.kind().argument
}
