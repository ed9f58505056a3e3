// Package profile reads and changes the configuration of whctl: its settings, the
// profiles that hold some of them, and the logins that belong to profiles.
package profile

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/tui/theme"
)

// Setting is a setting that can come from a flag, an environment variable or the
// configuration file.
type Setting struct {
	Name       string // key in the file
	OfProfiles bool   // set in the table of a profile, else at the top level
	Flag       string // global flag; empty for none
	env        string // environment variable; empty for none
	Form       *Form
	argument   string // name of the value in help; empty for a switch
	initial    string // default value
	Meaning    string
}

// Table lists all settings. Flags, variables, file, help and completion are derived
// from it.
var Table = []Setting{
	{
		Name:     "profile",
		Flag:     "profile",
		env:      "WHCTL_PROFILE",
		Form:     anyText,
		argument: "NAME",
		Meaning:  "configuration profile to use",
	},
	{Name: "format", env: "WHCTL_FORMAT", Form: FormatName, Meaning: "output format; overridden by --format"},
	{
		Name:    "theme",
		env:     "WHCTL_THEME",
		Form:    themeName,
		initial: theme.Auto,
		Meaning: "colour theme of whctl tui; overridden by --theme",
	},
	{
		Name:     "timeout",
		Flag:     "timeout",
		env:      "WHCTL_TIMEOUT",
		Form:     span,
		argument: "DURATION",
		initial:  client.DefaultTimeout.String(),
		Meaning:  "maximum time to wait for the start of a response",
	},
	{
		Name:       "url",
		OfProfiles: true,
		Flag:       "url",
		env:        EnvURL,
		Form:       address,
		argument:   "URL",
		initial:    client.DefaultURL,
		Meaning:    "address of the service",
	},
	{
		Name:       "user",
		OfProfiles: true,
		Flag:       "user",
		env:        EnvUser,
		Form:       anyText,
		argument:   "NAME",
		Meaning:    "user name",
	},
	{
		Name:       "colour",
		OfProfiles: true,
		Form:       colourName,
		argument:   "COLOUR",
		Meaning:    "colour of the profile's name in prompts: " + strings.Join(colourName.Choices(), ", "),
	},
	{
		Name:       "read_only",
		OfProfiles: true,
		Flag:       "read-only",
		env:        "WHCTL_READ_ONLY",
		Form:       YesNo,
		initial:    "false",
		Meaning:    "refuse all commands that change something",
	},
	{
		Name:       "protected",
		OfProfiles: true,
		Form:       YesNo,
		initial:    "false",
		Meaning:    "require the profile's name to be typed before changes",
	},
	{
		Name:       "ca_file",
		OfProfiles: true,
		Flag:       "ca-file",
		Form:       anyText,
		argument:   "FILE",
		Meaning:    "PEM file of certificates to trust in addition to the system's",
	},
	{
		Name:       "insecure_tls",
		OfProfiles: true,
		Flag:       "insecure-tls",
		Form:       YesNo,
		initial:    "false",
		Meaning:    "do not verify certificates; for tests only",
	},
	{
		Name:       "default_take",
		OfProfiles: true,
		Form:       count,
		argument:   "N",
		initial:    strconv.Itoa(TableRows),
		Meaning:    "default number of rows of a table on a terminal",
	},
	{
		Name:       "time_zone",
		OfProfiles: true,
		Form:       zone,
		argument:   "ZONE",
		initial:    "Local",
		Meaning:    "time zone of dates and times, such as Europe/Berlin",
	},
}

// LookupSetting returns the setting with a name.
func LookupSetting(name string) (Setting, bool) {
	i := slices.IndexFunc(Table, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return Table[i], true
}

// Names returns the names of the settings that a predicate selects.
func Names(selects func(Setting) bool) []string {
	var names []string
	for _, s := range Table {
		if selects(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// UnknownSettingError returns the error of an unknown setting.
func UnknownSettingError(name string) error {
	names := Names(func(Setting) bool { return true })
	return cmdline.Usagef("unknown setting %q%s", name,
		record.DidYouMeanOr(record.Suggest(name, names), "settings: "+strings.Join(names, ", ")))
}

// Flags returns the global flags of settings.
func Flags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range Table {
		if s.Flag == "" {
			continue
		}
		usage := s.Usage()
		if s.env != "" {
			usage += " (" + s.env + ")"
		}
		if s.Form == YesNo {
			flags = append(flags, &cli.BoolFlag{Name: s.Flag, Usage: usage})
		} else {
			flags = append(flags, &cli.StringFlag{
				Name:        s.Flag,
				Usage:       usage,
				DefaultText: s.initial,
			})
		}
	}
	return flags
}

// Usage returns the usage of the setting's flag, with the name of the value.
func (s Setting) Usage() string {
	if s.argument == "" {
		return s.Meaning
	}
	return "`" + s.argument + "`  " + s.Meaning
}

// Form describes the valid texts of a setting.
type Form struct {
	example string // in the syntax of the file
	plain   bool   // without quotes in the file
	check   func(text string) error
	choices func() []string // the valid texts; nil if there is no list

	complete  func(text string) string // adds parts that a valid text may lack; nil for nothing
	mustBeSet bool                     // an empty text of a flag is an error
}

// Forms of settings.
var (
	anyText = &Form{}
	address = &Form{
		example: `an address such as "https://erp01:5050", without user and password`,
		check: func(text string) error {
			_, err := client.New(client.Options{URL: withScheme(text)})
			if err == nil {
				return nil
			}
			return errors.New(strings.TrimPrefix(err.Error(), "the address of the service "))
		},
		complete:  withScheme,
		mustBeSet: true,
	}
	YesNo = &Form{
		example: "true or false, without quotes",
		plain:   true,
		check: func(text string) error {
			_, err := strconv.ParseBool(text)
			return must(err == nil, "true or false")
		},
	}
	count = &Form{
		example: "a number from 1, without quotes",
		plain:   true,
		check: func(text string) error {
			n, err := strconv.ParseInt(text, 10, 32)
			return must(err == nil && n > 0, "a number from 1")
		},
	}
	span = &Form{
		example: `a duration such as "30s"`,
		check: func(text string) error {
			d, err := time.ParseDuration(text)
			return must(err == nil && d > 0, "a duration such as 30s")
		},
	}
	zone = &Form{
		example: `a zone such as "Europe/Berlin"`,
		check: func(text string) error {
			_, err := time.LoadLocation(text)
			return must(err == nil, "Local, UTC or a zone such as Europe/Berlin")
		},
	}
	colourName = &Form{choices: func() []string { return slices.Sorted(maps.Keys(Colours)) }}
	FormatName = &Form{choices: output.FormatNames}
	themeName  = &Form{choices: theme.Themes}
)

// withScheme adds the scheme to an address of this machine that has none, such as localhost:5050.
// There, services rarely have a certificate.
func withScheme(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	u, err := url.Parse("http://" + address)
	if err != nil || !wire.IsLoopback(u.Hostname()) {
		return address
	}
	return u.String()
}

// completed returns a text with the parts that a valid one may lack.
func (f *Form) completed(text string) string {
	if f.complete == nil {
		return text
	}
	return f.complete(text)
}

// must returns an error unless the text is valid.
func must(valid bool, be string) error {
	if valid {
		return nil
	}
	return errors.New("must be " + be)
}

// Choices returns the valid texts; nil if there is no list.
func (f *Form) Choices() []string {
	if f.choices == nil {
		return nil
	}
	return f.choices()
}

// Check returns an error with the valid form if the text is invalid.
func (f *Form) Check(text string) error {
	if f.check != nil {
		return f.check(text)
	}
	if f.choices != nil {
		return cmdline.OneOf(text, f.choices())
	}
	return nil
}

// inWords describes the values in the file.
func (f *Form) inWords() string {
	if f.choices != nil {
		return "one of " + strings.Join(f.choices(), ", ")
	}
	return cmp.Or(f.example, "a text in quotes")
}

// inFile returns a value in the syntax of the file.
func (f *Form) inFile(text string) string {
	if f.plain {
		return text
	}
	needsEscape := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\`, r) }
	if !strings.ContainsFunc(text, needsEscape) {
		return `"` + text + `"`
	}
	encoded, err := toml.Marshal(map[string]string{"x": text})
	if err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(encoded), "x = "), "\n")
}

// Colours has the colours of profiles with their ANSI codes.
var Colours = map[string]int{
	"red":     31,
	"green":   32,
	"yellow":  33,
	"blue":    34,
	"magenta": 35,
	"cyan":    36,
	"none":    0,
}

// TableRows is the default number of rows of a table on a terminal.
const TableRows = 50
