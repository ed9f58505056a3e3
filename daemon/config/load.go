package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/kinds"
)

// UsageError is an error in the arguments or the settings.
type UsageError struct{ Problems []string }

// Error returns the problems, one per line, with passwords masked.
func (e *UsageError) Error() string { return WithoutPasswords(strings.Join(e.Problems, "\n")) }

// sources contains everything that settings are read from.
type sources struct {
	flags    Layer
	env      []string // in the form of os.Environ
	readFile func(string) ([]byte, error)
	platform platform
}

// Read reads the settings from, in order of increasing precedence: defaults, defaults by the
// setting compat, the TOML file in --config or WHD_CONFIG (else the platform's), credentials of
// systemd, environment variables, and flags. Invalid settings are a *UsageError with all problems
// of all sources.
func Read(flags Layer, env []string) (Config, error) {
	return load(sources{flags, env, os.ReadFile, thisPlatform()})
}

// FileOf returns the path of the settings file that the flags name, else the
// platform's path.
func FileOf(flags Layer, env []string) string {
	on := thisPlatform()
	return cmp.Or(lastAssignment("config", flags).text, on.configPath(on.environment(env)))
}

func load(from sources) (Config, error) {
	r := loader{sources: from, config: Config{origins: make(map[string]Origin)}}
	env := from.platform.environment(from.env)
	environment, warnings := environmentLayer(env)
	r.config.Start.Warnings = warnings
	named := from.configFile(env, environment)
	file := r.file(named)
	credentials := credentialLayer(env, from.readFile)
	compat := compatLayer(lastAssignment("compat", file, environment, from.flags).text)
	layers := []Layer{
		defaultLayer(from.platform, env),
		compat,
		{named},
		file,
		credentials,
		environment,
		from.flags,
	}
	for _, l := range layers {
		r.apply(l)
	}
	r.replaceFormer()
	r.crossCheck()
	if len(r.problems) > 0 {
		return Config{}, &UsageError{r.problems}
	}
	return r.config, nil
}

// loader merges the sources and collects problems.
type loader struct {
	sources
	config   Config
	problems []string
}

func (r *loader) problem(name string, origin Origin, err error) {
	r.problems = append(r.problems, problem(name, origin, err))
}

// configFile returns the settings file to read: the one that a variable or a flag
// names, else the platform's if it exists. `--config=` means no file.
func (from sources) configFile(env []string, environment Layer) assignment {
	named := lastAssignment("config", environment, from.flags)
	if named.origin != "" {
		return named
	}
	config, _ := settingNamed("config")
	named = assignment{setting: config, origin: byDefault}
	if path := from.platform.configPath(env); path != "" {
		if _, err := from.readFile(path); !errors.Is(err, fs.ErrNotExist) {
			named.text = path // an unreadable file is reported later, with its name
		}
	}
	return named
}

// file reads the TOML file that the setting "config" names.
func (r *loader) file(config assignment) Layer {
	if config.text == "" {
		return nil
	}
	data, err := r.readFile(config.text)
	if err != nil {
		err = fmt.Errorf("cannot read the file %s: %w", config.text, cause(err))
		r.problem("config", config.origin, err)
		return nil
	}
	l, problems := parseTOML(config.text, data)
	r.problems = append(r.problems, problems...)
	return l
}

// apply sets the values of a layer.
func (r *loader) apply(l Layer) {
	for _, g := range l {
		text, err := g.content(r.readFile)
		if other := lastAssignment(g.setting.Name, l); other.inFile != g.inFile {
			err = conflict(other)
		}
		if err == nil {
			err = g.setting.assign(&r.config, text)
		}
		if err != nil {
			r.problem(g.setting.Name, g.origin, err)
			continue
		}
		r.config.origins[g.setting.Name] = g.origin
	}
}

// conflict returns the error for a setting that a source sets twice.
func conflict(other assignment) error {
	return fmt.Errorf("also set by %s; set only one", other.origin)
}

func problem(name string, origin Origin, err error) string {
	return fmt.Sprintf("setting %s (%s): %v", name, origin, err)
}

// cause returns the error inside a *fs.PathError, without operation and path.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// replaceFormer applies the former settings.
func (r *loader) replaceFormer() {
	c := &r.config
	for _, f := range replacements {
		from := c.Origin(f.former)
		keepsMeaning := f.former == "store" && !c.Store.OnServer()
		if from == byDefault || c.Origin(f.now) != byDefault || keepsMeaning {
			continue
		}
		f.assign(c)
		c.origins[f.now] = from
		if c.ERP.DSN.OnServer() {
			c.Start.Former = append(c.Start.Former, Former{f.former, f.now, f.advice})
		}
	}
}

// crossCheck applies the rules that involve several settings.
func (r *loader) crossCheck() {
	c := &r.config
	onServer := c.ERP.DSN.OnServer()
	way := c.Webhooks.Way
	hasCert := way.Client.Cert != ""
	hasKey := way.Client.Key != ""
	isPEM := c.TLS.Cert != "" && !isPFX(c.TLS.Cert)
	for _, rule := range []struct {
		name     string
		isBroken bool
		message  string
	}{
		{"demo", c.Demo && onServer, "requires erp to be demo; for a test database on a server run whd demo"},
		{"demo_activity", c.ERP.DemoActivity && !c.Demo, "requires demo"},
		{"erp.outbox", c.ERP.Outbox != "" && !onServer, "requires erp to be on a server"},
		{"erp.read_dsn", c.ERP.ReadDSN != "" && !onServer, "requires erp to be on a server"},
		{"data_dir", c.DataDir == "", "this account has no state directory; set --data-dir or WHD_DATA_DIR"},
		{"tls.cert", isPEM && c.TLS.Key == "", "requires tls.key, unless it is a PFX file (.pfx, .p12)"},
		{"tls.key", c.TLS.Key != "" && !isPEM, "requires tls.cert to be a PEM file; a PFX file contains its key"},
		{"tls.password", c.TLS.Password != "" && !isPFX(c.TLS.Cert), "requires tls.cert to be a PFX file (.pfx, .p12)"},
		{"webhooks.proxy_resolves", way.ProxyResolves && way.Proxy == "", "requires webhooks.proxy"},
		{"webhooks.client_cert", hasCert && !hasKey, "requires webhooks.client_key"},
		{"webhooks.client_key", hasKey && !hasCert, "requires webhooks.client_cert"},
		{"webhooks.client_cert_hosts", way.ClientCertHosts != nil && !hasCert, "requires webhooks.client_cert"},
	} {
		if rule.isBroken {
			r.problem(rule.name, c.Origin(rule.name), errors.New(rule.message))
		}
	}
	c.ERP.Kinds = kinds.Load(r.kindFiles()...)
	sources, err := spelledSources(c.ERP.Kinds, c.ERP.Sources)
	if err != nil {
		r.problem("erp.sources", c.Origin("erp.sources"), err)
	}
	c.ERP.Sources = sources
	c.ERP.Kinds = c.ERP.Kinds.Without(c.ERP.leavesOut)
}

// kindFiles returns the files and directories of record kinds.
func (r *loader) kindFiles() (paths []string) {
	c := &r.config
	dir := filepath.Dir(c.File)
	if len(c.ERP.Files) == 0 && c.File != "" {
		standard := filepath.Join(dir, "kinds")
		// A link to a missing directory is not left out: its files may require roles.
		if _, err := os.Lstat(standard); !errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, standard)
		}
	}
	for _, path := range c.ERP.Files {
		if !filepath.IsAbs(path) && strings.HasPrefix(string(c.Origin("erp.kinds")), "file ") {
			path = filepath.Join(dir, path)
		}
		paths = append(paths, path)
	}
	return paths
}

// spelledSources returns sources with the names of record kinds and bill tables in their own
// spelling. Unknown and duplicate names are errors; if files of kinds have mistakes, unknown
// ones are not.
func spelledSources(set *kinds.Set, sources map[string]string) (map[string]string, error) {
	spelled := make(map[string]string, len(sources))
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		kind, ok := set.Registry().Lookup(name)
		if !ok {
			kind, ok = erp.BillTables().Lookup(name)
		}
		if !ok && len(set.Problems) > 0 {
			kind = &record.Kind{Name: name}
		} else if !ok {
			near := append(set.Registry().Suggest(name), erp.BillTables().Suggest(name)...)
			return nil, fmt.Errorf("unknown record kind %q%s", name, record.DidYouMean(near))
		}
		if _, twice := spelled[kind.Name]; twice {
			return nil, fmt.Errorf("duplicate name %q", kind.Name)
		}
		spelled[kind.Name] = sources[name]
	}
	return spelled, nil
}

// passwords matches the password in a connection string, as a URL or as options.
var passwords = regexp.MustCompile(`(?i)(://)(.*)(@)|((?:password|pwd)\s*=)[^;"]*`)

// example is the part of the example in error messages that passwords matches.
const example = "://user:password@"

// WithoutPasswords masks the passwords in a message, since users may write a connection
// string into another setting by mistake.
func WithoutPasswords(message string) string {
	return passwords.ReplaceAllStringFunc(message, func(found string) string {
		if found == example {
			return found
		}
		return passwords.ReplaceAllString(found, "${1}${4}"+masked+"${3}")
	})
}
