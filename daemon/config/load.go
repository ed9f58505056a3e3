package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
)

// Origin says where a setting's value came from.
type Origin string

const byDefault Origin = "default"

// Origins are where values came from, with warnings.
type Origins struct {
	Warnings []string // such as unknown WHD_ variables
	of       map[string]Origin
}

// Of is the origin of the setting with the given name.
func (o *Origins) Of(name string) Origin {
	if o == nil {
		return byDefault
	}
	if from, given := o.of[name]; given {
		return from
	}
	return byDefault
}

// UsageError is a mistake of the person who started the program, in the
// arguments or the settings. Every problem is a line of its own.
type UsageError struct{ Problems []string }

// Error is the problems, one per line, without passwords.
func (e *UsageError) Error() string { return withoutPasswords(strings.Join(e.Problems, "\n")) }

// Usagef is a UsageError of one problem.
func Usagef(format string, args ...any) *UsageError {
	return &UsageError{Problems: []string{fmt.Sprintf(format, args...)}}
}

// given is a setting's text in one source.
type given struct {
	setting Setting
	text    string
	inFile  bool // text names a file that holds the secret
	origin  Origin
}

// Layer is what one source gives. Later layers win over earlier ones.
type Layer []given

// platform is what the default of data_dir depends on, beside the environment.
type platform struct {
	os        string
	superuser bool
}

func thisPlatform() platform {
	return platform{os: runtime.GOOS, superuser: os.Geteuid() == 0}
}

// environment is env with its names as they are looked up here: Windows does
// not tell their letter case apart and keeps what the one who set them wrote.
func (on platform) environment(env []string) []string {
	if on.os != "windows" {
		return env
	}
	var upper []string
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		upper = append(upper, strings.ToUpper(name)+"="+text)
	}
	return upper
}

// sources is everything that settings are read from.
type sources struct {
	flags    Layer
	env      []string // as os.Environ gives it
	readFile func(string) ([]byte, error)
	platform platform
}

// Load reads the settings: defaults, the TOML file that --config or
// WHD_CONFIG names or that stands at the platform's place, credentials of systemd,
// variables, and flags, of which the later win. Apart from reading that file and
// those of secrets it depends on its arguments only. A mistake is a *UsageError
// with all mistakes of all sources.
func Load(args, env []string, readFile func(string) ([]byte, error)) (Config, *Origins, error) {
	flags, rest, err := parseSettings(args)
	if err != nil {
		return Config{}, nil, err
	}
	if len(rest) > 0 {
		return Config{}, nil, Usagef("unexpected argument %q", rest[0])
	}
	return load(sources{flags, env, readFile, thisPlatform()})
}

// Read reads the settings of this process, with flags that are parsed already.
func Read(flags Layer, env []string) (Config, *Origins, error) {
	return load(sources{flags, env, os.ReadFile, thisPlatform()})
}

// FileOf is the settings file that the flags name, else the platform's place.
func FileOf(flags Layer, env []string) string {
	on := thisPlatform()
	return cmp.Or(settingText("config", flags).text, on.configPlace(on.environment(env)))
}

func load(from sources) (Config, *Origins, error) {
	var wrong UsageError
	env := from.platform.environment(from.env)
	environment, warnings := environmentLayer(env)
	named := from.configFile(env, environment)
	file := fileLayer(named, from.readFile, &wrong)
	credentials := credentialLayer(env, from.readFile)
	var c Config
	origins := &Origins{Warnings: warnings, of: make(map[string]Origin)}
	for _, l := range []Layer{defaultLayer(from.platform, env), {named}, file, credentials, environment, from.flags} {
		l.apply(&c, origins, from.readFile, &wrong)
	}
	wrong.Problems = append(wrong.Problems, crossCheck(&c, origins)...)
	if len(wrong.Problems) > 0 {
		return Config{}, nil, &wrong
	}
	c.origins = origins
	return c, origins, nil
}

// defaultLayer gives every setting its default, so that the places of all of
// them are filled whatever the other sources hold.
func defaultLayer(on platform, env []string) Layer {
	var l Layer
	for _, s := range table {
		text := s.Default
		if s.state {
			text = stateDirectory(on, env)
		}
		if text != "" {
			l = append(l, given{setting: s, text: text, origin: byDefault})
		}
	}
	return l
}

// stateDirectory is where the platform wants a service's files, or "" where
// the environment does not say.
func stateDirectory(on platform, env []string) string {
	given, _, _ := strings.Cut(variable(env, "STATE_DIRECTORY"), ":") // by systemd
	switch {
	case on.os == "linux" && path.IsAbs(given):
		return given
	case on.os == "windows":
		return under(variable(env, "PROGRAMDATA"), `\whd`)
	case on.os == "darwin":
		return under(variable(env, "HOME"), "/Library/Application Support/whd")
	case on.superuser:
		return "/var/lib/whd"
	case path.IsAbs(variable(env, "XDG_STATE_HOME")):
		return under(variable(env, "XDG_STATE_HOME"), "/whd")
	}
	return under(variable(env, "HOME"), "/.local/state/whd")
}

func under(base, tail string) string {
	if base == "" {
		return ""
	}
	return strings.TrimRight(base, `/\`) + tail
}

// apply puts the layer's values in their places.
func (l Layer) apply(c *Config, origins *Origins, readFile func(string) ([]byte, error), wrong *UsageError) {
	for _, g := range l {
		text, err := g.content(readFile)
		if other := settingText(g.setting.Name, l); other.inFile != g.inFile {
			err = conflict(other)
		}
		if err == nil {
			err = g.setting.put(c, text)
		}
		if err != nil {
			wrong.Problems = append(wrong.Problems, problem(g.setting.Name, g.origin, err))
			continue
		}
		origins.of[g.setting.Name] = g.origin
	}
}

// conflict is what is wrong where a source gives a setting twice.
func conflict(other given) error {
	return fmt.Errorf("stands beside %s; only one of them can be meant", other.origin)
}

func problem(name string, origin Origin, err error) string {
	return fmt.Sprintf("setting %s (%s): %v", name, origin, err)
}

// content is the setting's text, read from the secret's file where that is
// what was given. Editors and echo end a file with a line break that is no
// part of the secret.
func (g given) content(readFile func(string) ([]byte, error)) (string, error) {
	if !g.inFile {
		return g.text, nil
	}
	data, err := readFile(g.text)
	if err != nil {
		return "", fmt.Errorf("cannot read the file %s: %w", g.text, cause(err))
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if secret == "" {
		return "", fmt.Errorf("the file %s is empty", g.text)
	}
	return secret, nil
}

// cause leaves out the operation and path that file errors repeat.
func cause(err error) error {
	if at, is := errors.AsType[*fs.PathError](err); is {
		return at.Err
	}
	return err
}

// settingText is a setting's text in the last of the layers that have it.
func settingText(name string, layers ...Layer) given {
	var last given
	for _, l := range layers {
		for _, g := range l {
			if g.setting.Name == name {
				last = g
			}
		}
	}
	return last
}

// crossCheck holds the rules that concern more than one setting or need more
// than the settings' own texts.
func crossCheck(c *Config, origins *Origins) []string {
	var problems []string
	wrong := func(name, format string, args ...any) {
		problems = append(problems, problem(name, origins.Of(name), fmt.Errorf(format, args...)))
	}
	if c.Store != Embedded && c.Demo {
		wrong("demo", "only fills the embedded store; for a test database on a server there is whd demo")
	}
	if c.Store == Embedded && c.Server.ReadDSN != "" {
		wrong("store.read_dsn", "needs a store on a server")
	}
	if c.DataDir == "" {
		wrong("data_dir", "this account has no state directory; name one with --data-dir or WHD_DATA_DIR")
	}
	if c.TLS.Cert != "" && c.TLS.Key == "" {
		wrong("tls.cert", "needs tls.key beside it")
	}
	if c.TLS.Key != "" && c.TLS.Cert == "" {
		wrong("tls.key", "needs tls.cert beside it")
	}
	sources, err := sourcesOfKinds(sourceKinds(), c.ERP.Sources)
	if err != nil {
		wrong("erp.sources", "%w", err)
	}
	c.ERP.Sources = sources
	return problems
}

// sourcesOfKinds spells the names of record kinds as the registry does.
func sourcesOfKinds(kinds *record.Registry, sources map[string]string) (map[string]string, error) {
	spelled := make(map[string]string, len(sources))
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		kind, known := kinds.Lookup(name)
		if !known {
			return nil, fmt.Errorf("%q is no record kind%s", name, DidYouMean("", kinds.Near(name)))
		}
		if _, twice := spelled[kind.Name]; twice {
			return nil, fmt.Errorf("%q stands twice", kind.Name)
		}
		spelled[kind.Name] = sources[name]
	}
	return spelled, nil
}

// DidYouMean ends a message with what resembles the unknown name, if anything.
func DidYouMean(prefix string, near []string) string {
	if len(near) == 0 {
		return ""
	}
	for i := range near {
		near[i] = prefix + near[i]
	}
	last := len(near) - 1
	if last == 0 {
		return "; did you mean " + near[0] + "?"
	}
	return "; did you mean " + strings.Join(near[:last], ", ") + " or " + near[last] + "?"
}

// sourceKinds are those whose tables erp.sources can name.
func sourceKinds() *record.Registry {
	var all []record.Kind
	for _, kind := range append(slices.Clone(record.Builtin().Kinds()), erp.BillTables().Kinds()...) {
		all = append(all, *kind)
	}
	r, err := record.NewRegistry(all...)
	if err != nil {
		panic("config: " + err.Error()) // two tables of one name, in code
	}
	return r
}

// passwords are where a password stands in a connection string: in a URL, and in
// the form of options.
var passwords = regexp.MustCompile(`(?i)(://)(.*)(@)|((?:password|pwd)\s*=)[^;"]*`)

// example is what our own messages show of a connection string.
const example = "://user:password@"

// withoutPasswords is a message with stars for the passwords in it: a connection string may
// have come to where another setting, or nothing at all, was meant.
func withoutPasswords(message string) string {
	return passwords.ReplaceAllStringFunc(message, func(found string) string {
		if found == example {
			return found
		}
		return passwords.ReplaceAllString(found, "${1}${4}"+masked+"${3}")
	})
}
