package config

import (
	"errors"
	"reflect"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Option is one flag of a command. Its argument's name is empty for a switch,
// which may stand alone and then means "true".
type Option struct {
	Name     string
	Argument string
	Help     string
	Set      func(text string) error
}

// ErrHelp means that the arguments ask for help.
var ErrHelp = errors.New("help asked for")

// ParseOptions reads flags wherever they stand among the arguments, as --name
// value or --name=value, and returns the other arguments. After "--" there are
// no more flags.
func ParseOptions(args []string, options []Option) ([]string, error) {
	var rest []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			return append(rest, args...), nil
		case arg == "-h" || arg == "--help" || arg == "-help":
			return nil, ErrHelp
		case len(arg) < 2 || arg[0] != '-':
			rest = append(rest, arg)
			continue
		}
		used, err := parseOption(arg, args, options)
		if err != nil {
			return nil, err
		}
		args = args[used:]
	}
	return rest, nil
}

// parseOption reads one flag and says how many of the following arguments it
// took. A value that begins with two dashes is taken for a forgotten value;
// --name=--value says that it is meant.
func parseOption(arg string, following []string, options []Option) (int, error) {
	name, text, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	o, known := optionNamed(options, name)
	switch {
	case !known:
		return 0, Usagef("unknown flag --%s%s", name, DidYouMean("--", record.Near(name, optionNames(options))))
	case joined:
		return 0, o.Set(text)
	case o.Argument == "":
		return 0, o.Set("true")
	case len(following) == 0 || strings.HasPrefix(following[0], "--"):
		return 0, Usagef("flag --%s needs a value: --%s %s", name, name, o.Argument)
	}
	return 1, o.Set(following[0])
}

func optionNamed(options []Option, name string) (Option, bool) {
	for _, o := range options {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

func optionNames(options []Option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	return names
}

// Options are the flags of the settings; what they get goes to l. A
// secret's flag takes the name of its file, since other users of the machine
// can read a program's arguments. A store has two flags, since it may be none.
func Options(settings []Setting, l *Layer) []Option {
	var options []Option
	for _, s := range settings {
		inFile := strings.ReplaceAll(fileSuffix, "_", "-")
		if !strings.HasSuffix(s.Flag(), inFile) {
			options = append(options, s.option(l))
		}
		if s.secret() {
			options = append(options, s.fileOption(strings.TrimSuffix(s.Flag(), inFile)+inFile, l))
		}
	}
	return options
}

func (s Setting) option(l *Layer) Option {
	o := Option{Name: s.Flag(), Argument: argumentName(s), Help: s.Help}
	if s.Default != "" && s.Default != "false" {
		o.Help += " (default " + s.Default + ")"
	}
	o.Set = func(text string) error {
		l.add(given{setting: s, text: text, origin: Origin("flag --" + o.Name)})
		return nil
	}
	return o
}

func (s Setting) fileOption(name string, l *Layer) Option {
	help := "file that holds the " + s.Help
	if s.Flag() != name {
		help = "file that holds what --" + s.Flag() + " takes, as other users of the machine can see arguments"
	}
	return Option{Name: name, Argument: "FILE", Help: help, Set: func(text string) error {
		l.add(given{setting: s, text: text, inFile: true, origin: Origin("flag --" + name)})
		return nil
	}}
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

// parseSettings reads arguments that hold the settings' flags only.
func parseSettings(args []string) (Layer, []string, error) {
	var l Layer
	rest, err := ParseOptions(args, Options(table, &l))
	return l, rest, err
}
