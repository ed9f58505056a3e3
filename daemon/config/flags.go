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
	inFile := strings.ReplaceAll(fileSuffix, "_", "-")
	for _, s := range table {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if name := s.Flag(); !strings.HasSuffix(name, inFile) {
			help := s.Help
			if s.Default != "" && s.Default != "false" {
				help += " (default " + s.Default + ")"
			}
			flags = append(flags, Flag{name, argumentName(s), help, func(text string) {
				l.add(assignment{setting: s, text: text, origin: Origin("flag --" + name)})
			}})
		}
		if s.secret() {
			name := strings.TrimSuffix(s.Flag(), inFile) + inFile
			help := "file with the " + s.Help
			if s.Flag() != name {
				help = "file with the value of --" + s.Flag() +
					", because other users of the machine can see command-line arguments"
			}
			flags = append(flags, Flag{name, "FILE", help, func(text string) {
				l.add(assignment{setting: s, text: text, inFile: true, origin: Origin("flag --" + name)})
			}})
		}
	}
	return flags
}

// add appends a flag's value. Repeated flags of a list accumulate.
func (l *Layer) add(g assignment) {
	previous := lastAssignment(g.setting.Name, *l)
	if kind := g.setting.kind().toml; previous.text != "" && (kind == reflect.Slice || kind == reflect.Map) {
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
