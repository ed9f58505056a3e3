package daemon

import (
	"errors"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// option is one flag of a command. Its argument's name is empty for a switch,
// which may stand alone and then means "true".
type option struct {
	name     string
	argument string
	help     string
	set      func(text string) error
}

// errHelp means that the arguments ask for help.
var errHelp = errors.New("help asked for")

// parseOptions reads flags wherever they stand among the arguments, as --name
// value or --name=value, and returns the other arguments. After "--" there are
// no more flags.
func parseOptions(args []string, options []option) ([]string, error) {
	var rest []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			return append(rest, args...), nil
		case arg == "-h" || arg == "--help" || arg == "-help":
			return nil, errHelp
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
func parseOption(arg string, following []string, options []option) (int, error) {
	name, text, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	o, known := optionNamed(options, name)
	switch {
	case !known:
		return 0, usage("unknown flag --%s%s", name, didYouMean("--", record.Near(name, optionNames(options))))
	case joined:
		return 0, o.set(text)
	case o.argument == "":
		return 0, o.set("true")
	case len(following) == 0 || strings.HasPrefix(following[0], "--"):
		return 0, usage("flag --%s needs a value: --%s %s", name, name, o.argument)
	}
	return 1, o.set(following[0])
}

func optionNamed(options []option, name string) (option, bool) {
	for _, o := range options {
		if o.name == name {
			return o, true
		}
	}
	return option{}, false
}

func optionNames(options []option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.name
	}
	return names
}

// settingOptions are the flags of the settings; what they get goes to l. A
// secret's flag takes the name of its file, since other users of the machine
// can read a program's arguments. A store has two flags, since it may be none.
func settingOptions(table []setting, l *layer) []option {
	var options []option
	for _, s := range table {
		inFile := strings.ReplaceAll(fileSuffix, "_", "-")
		if !strings.HasSuffix(s.flag(), inFile) {
			options = append(options, s.option(l))
		}
		if s.secret() {
			options = append(options, s.fileOption(strings.TrimSuffix(s.flag(), inFile)+inFile, l))
		}
	}
	return options
}

func (s setting) option(l *layer) option {
	o := option{name: s.flag(), argument: argumentName(s), help: s.help}
	if s.initial != "" && s.initial != "false" {
		o.help += " (default " + s.initial + ")"
	}
	o.set = func(text string) error {
		l.add(given{setting: s, text: text, origin: Origin("flag --" + o.name)})
		return nil
	}
	return o
}

func (s setting) fileOption(name string, l *layer) option {
	help := "file that holds the " + s.help
	if s.flag() != name {
		help = "file that holds what --" + s.flag() + " takes, as other users of the machine can see arguments"
	}
	return option{name: name, argument: "FILE", help: help, set: func(text string) error {
		l.add(given{setting: s, text: text, inFile: true, origin: Origin("flag --" + name)})
		return nil
	}}
}

// add appends a flag's value. Lists may be given by repeating the flag.
func (l *layer) add(g given) {
	was := settingText(g.setting.name, *l)
	switch g.setting.value(new(Config)).(type) {
	case networksValue, originsValue, hostsValue, mapValue:
		if was.text != "" {
			g.text = was.text + "," + g.text
		}
	}
	*l = append(*l, g)
}

// argumentName is what help shows for a setting's value.
func argumentName(s setting) string {
	switch {
	case s.argument != "":
		return s.argument
	case len(s.choices) > 0:
		return strings.Join(s.choices, "|")
	}
	switch s.value(new(Config)).(type) {
	case boolValue:
		return ""
	case intValue:
		return "N"
	case durationValue:
		return "TIME"
	case sizeValue:
		return "SIZE"
	case networksValue:
		return "CIDR,..."
	case mapValue:
		return "NAME=VALUE,..."
	case zoneValue:
		return "ZONE"
	}
	return "TEXT"
}

// parseSettings reads arguments that hold the settings' flags only.
func parseSettings(args []string) (layer, []string, error) {
	var l layer
	rest, err := parseOptions(args, settingOptions(settings(), &l))
	return l, rest, err
}
