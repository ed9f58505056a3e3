package config

import (
	"reflect"
	"slices"
	"strings"
)

// Flag is how a setting is given as a flag of a command.
type Flag struct {
	Name     string
	Argument string // the name of its value; empty for a switch, which can do without one and then means "true"
	Help     string
	Set      func(text string)
}

// Flags are the flags of the named settings, of all where none is named; what they
// get goes to l. A secret's flag takes the name of its file, since other users of the
// machine can read a program's arguments. A store has two flags, since it may be none.
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
				l.add(given{setting: s, text: text, origin: Origin("flag --" + name)})
			}})
		}
		if s.secret() {
			name := strings.TrimSuffix(s.Flag(), inFile) + inFile
			help := "file that holds the " + s.Help
			if s.Flag() != name {
				help = "file that holds what --" + s.Flag() + " takes, as other users of the machine can see arguments"
			}
			flags = append(flags, Flag{name, "FILE", help, func(text string) {
				l.add(given{setting: s, text: text, inFile: true, origin: Origin("flag --" + name)})
			}})
		}
	}
	return flags
}

// add appends a flag's value. Lists may be given by repeating the flag.
func (l *Layer) add(g given) {
	was := settingText(g.setting.Name, *l)
	if kind := g.setting.kind().toml; was.text != "" && (kind == reflect.Slice || kind == reflect.Map) {
		g.text = was.text + "," + g.text
	}
	*l = append(*l, g)
}

// argumentName is what help shows for a setting's value.
func argumentName(s Setting) string {
	switch {
	case s.argument != "":
		return s.argument
	case len(s.choices) > 0:
		return strings.Join(s.choices, "|")
	}
	return s.kind().argument
}
