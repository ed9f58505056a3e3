package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
)

// UsageError is a mistake of the person who started the program, in the
// arguments or the settings. Every problem is a line of its own.
type UsageError struct{ Problems []string }

// Error is the problems, one per line, without passwords.
func (e *UsageError) Error() string { return WithoutPasswords(strings.Join(e.Problems, "\n")) }

// sources is everything that settings are read from.
type sources struct {
	flags    Layer
	env      []string // as os.Environ gives it
	readFile func(string) ([]byte, error)
	platform platform
}

// Read reads the settings: defaults, the TOML file that the flag --config or
// WHD_CONFIG names or that is at the platform's place, credentials of systemd,
// variables, and flags, of which the later win. A mistake is a *UsageError with all
// mistakes of all sources.
func Read(flags Layer, env []string) (Config, error) {
	return load(sources{flags, env, os.ReadFile, thisPlatform()})
}

// FileOf is the settings file that the flags name, else the platform's place.
func FileOf(flags Layer, env []string) string {
	on := thisPlatform()
	return cmp.Or(settingText("config", flags).text, on.configPlace(on.environment(env)))
}

func load(from sources) (Config, error) {
	r := reading{sources: from, config: Config{origins: make(map[string]Origin)}}
	env := from.platform.environment(from.env)
	environment, ignored := environmentLayer(env)
	r.config.Ignored = ignored
	named := from.configFile(env, environment)
	file := r.file(named)
	credentials := credentialLayer(env, from.readFile)
	for _, l := range []Layer{defaultLayer(from.platform, env), {named}, file, credentials, environment, from.flags} {
		r.apply(l)
	}
	r.crossCheck()
	if len(r.problems) > 0 {
		return Config{}, &UsageError{r.problems}
	}
	return r.config, nil
}

// reading is settings that are being read, and what is wrong with them.
type reading struct {
	sources
	config   Config
	problems []string
}

func (r *reading) problem(name string, origin Origin, err error) {
	r.problems = append(r.problems, problem(name, origin, err))
}

// configFile is the file of settings that is read: the one that a variable or a
// flag names, else the platform's where it exists. `--config=` is none.
func (from sources) configFile(env []string, environment Layer) given {
	named := settingText("config", environment, from.flags)
	if named.origin != "" {
		return named
	}
	config, _ := settingNamed("config")
	named = given{setting: config, origin: byDefault}
	if place := from.platform.configPlace(env); place != "" {
		if _, err := from.readFile(place); !errors.Is(err, fs.ErrNotExist) {
			named.text = place // also where it cannot be read, which is told with its name
		}
	}
	return named
}

// file reads the TOML file that the setting "config" names, if it does.
func (r *reading) file(config given) Layer {
	if config.text == "" {
		return nil
	}
	data, err := r.readFile(config.text)
	if err != nil {
		r.problem("config", config.origin, fmt.Errorf("cannot read the file %s: %w", config.text, cause(err)))
		return nil
	}
	l, problems := parseTOML(config.text, data)
	r.problems = append(r.problems, problems...)
	return l
}

// apply puts a layer's values in their places.
func (r *reading) apply(l Layer) {
	for _, g := range l {
		text, err := g.content(r.readFile)
		if other := settingText(g.setting.Name, l); other.inFile != g.inFile {
			err = conflict(other)
		}
		if err == nil {
			err = g.setting.put(&r.config, text)
		}
		if err != nil {
			r.problem(g.setting.Name, g.origin, err)
			continue
		}
		r.config.origins[g.setting.Name] = g.origin
	}
}

// conflict is what is wrong where a source gives a setting twice.
func conflict(other given) error {
	return fmt.Errorf("stands beside %s; only one of them can be meant", other.origin)
}

func problem(name string, origin Origin, err error) string {
	return fmt.Sprintf("setting %s (%s): %v", name, origin, err)
}

// cause leaves out the operation and path that file errors repeat.
func cause(err error) error {
	if at, is := errors.AsType[*fs.PathError](err); is {
		return at.Err
	}
	return err
}

// crossCheck holds the rules that concern more than one setting or need more
// than the settings' own texts.
func (r *reading) crossCheck() {
	c := &r.config
	for _, rule := range []struct {
		name, what string
		broken     bool
	}{
		{"demo", "only fills the embedded store; for a test database on a server there is whd demo", c.Store != Embedded && c.Demo},
		{"store.read_dsn", "needs a store on a server", c.Store == Embedded && c.Server.ReadDSN != ""},
		{"data_dir", "this account has no state directory; name one with --data-dir or WHD_DATA_DIR", c.DataDir == ""},
		{"tls.cert", "needs tls.key beside it", c.TLS.Cert != "" && c.TLS.Key == ""},
		{"tls.key", "needs tls.cert beside it", c.TLS.Key != "" && c.TLS.Cert == ""},
	} {
		if rule.broken {
			r.problem(rule.name, c.Origin(rule.name), errors.New(rule.what))
		}
	}
	var err error
	if c.ERP.Sources, err = sourcesOfKinds(sourceKinds(), c.ERP.Sources); err != nil {
		r.problem("erp.sources", c.Origin("erp.sources"), err)
	}
}

// sourcesOfKinds spells the names of record kinds as the registry does.
func sourcesOfKinds(kinds *record.Registry, sources map[string]string) (map[string]string, error) {
	spelled := make(map[string]string, len(sources))
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		kind, known := kinds.Lookup(name)
		if !known {
			return nil, fmt.Errorf("%q is no record kind%s", name, record.DidYouMean(kinds.Suggest(name)))
		}
		if _, twice := spelled[kind.Name]; twice {
			return nil, fmt.Errorf("%q stands twice", kind.Name)
		}
		spelled[kind.Name] = sources[name]
	}
	return spelled, nil
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

// WithoutPasswords is a message with stars for the passwords in it: a connection string may
// have come to where another setting, or nothing at all, was meant.
func WithoutPasswords(message string) string {
	return passwords.ReplaceAllStringFunc(message, func(found string) string {
		if found == example {
			return found
		}
		return passwords.ReplaceAllString(found, "${1}${4}"+masked+"${3}")
	})
}
