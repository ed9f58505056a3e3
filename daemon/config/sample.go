package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// Print writes a table of all settings: name, value, origin and description.
func Print(w io.Writer, c Config) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "SETTING\tVALUE\tORIGIN\tDESCRIPTION")
	for _, s := range table {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", s.Name, cmp.Or(s.text(&c), "-"), c.Origin(s.Name), s.Help)
	}
	return columns.Flush()
}

const sampleHead = `# Settings of whd. Each is listed as a comment, with its default.
#
# A setting can also be set by an environment variable, such as WHD_QUERY_MAX_TAKE,
# or by a flag of whd serve, such as --query-max-take. Flags override variables, and
# variables override this file. A secret can be read from a file: set its name as
# admin_password_file, WHD_ADMIN_PASSWORD_FILE or --admin-password-file, or use a
# systemd credential with the name of the setting.
`

// serviceHead is added to the file of a service.
const serviceHead = `#
# To apply changes of this file, run: whd service reload. The log lists changed settings
# that require a restart: whd service restart.
`

// namesHead is added if the file of a service has names of files.
const namesHead = `#
# The names of files of secrets are those of this machine: check them if you copy this
# file to another one.
`

// ServiceSample writes the initial settings file of a service, with the settings of flags. It
// also sets data_dir, so that other commands of whd find the service's data. The file of a secret
// is read to check the secret, but the settings file has only its absolute path.
func ServiceSample(w io.Writer, flags Layer, env []string) error {
	return serviceSample(w, thisPlatform(), flags, env)
}

// ServiceDataDir returns the data directory in the file of ServiceSample.
func ServiceDataDir(env []string) string {
	return serviceDefaults(thisPlatform(), env).DataDir
}

// serviceDefaults returns the settings without any source, for a service.
func serviceDefaults(on platform, env []string) Config {
	return defaults(on, append(slices.Clone(on.environment(env)), "STATE_DIRECTORY=/var/lib/whd")) // of the unit
}

func serviceSample(w io.Writer, on platform, flags Layer, env []string) error {
	c := serviceDefaults(on, env)
	dataDir, _ := settingNamed("data_dir")
	set := Layer{{setting: dataDir, text: c.DataDir}}
	head := sampleHead + serviceHead
	for _, g := range flags {
		// Installers pass an empty text for settings that were not chosen.
		if g.setting.notInFile || g.text == "" {
			continue
		}
		written, err := g.forSample(lastAssignment(g.setting.Name, set))
		if err != nil {
			return fmt.Errorf("%s: %w", g.origin, err)
		}
		set = append(set, written)
		if written.inFile {
			head = sampleHead + serviceHead + namesHead
		}
	}
	text := sampleOf(c, set)
	text = strings.Replace(text, sampleHead, head, 1)
	_, err := io.WriteString(w, text)
	return err
}

// forSample validates an assignment and returns it in the form for a settings file. previous is
// the assignment of the same setting before it, if there is one.
func (g assignment) forSample(previous assignment) (assignment, error) {
	if previous.origin != "" && previous.inFile != g.inFile {
		return g, conflict(previous)
	}
	text, err := g.content(os.ReadFile)
	if err != nil {
		return g, err
	}
	var c Config
	if err := g.setting.assign(&c, text); err != nil {
		return g, err
	}
	if !g.setting.secret() {
		g.text = g.setting.text(&c)
	}
	if g.inFile {
		// The service, and commands such as whd check, have other current directories.
		g.text, err = filepath.Abs(g.text)
		if err != nil {
			return g, err
		}
	}
	if !utf8.ValidString(g.text) {
		return g, errors.New("it is not UTF-8, as texts in settings files must be")
	}
	return g, nil
}

// Sample writes a settings file in which all settings are comments with their
// defaults. It ignores the settings in effect, so that it never contains a secret.
func Sample(w io.Writer, env []string) error {
	on := thisPlatform()
	_, err := io.WriteString(w, sampleOf(defaults(on, on.environment(env)), nil))
	return err
}

// defaults returns the settings without any source.
func defaults(on platform, env []string) (c Config) {
	for _, g := range defaultLayer(on, env) {
		_ = g.setting.assign(&c, g.text) // TestTableIsValid checks that defaults are valid
	}
	return c
}

// sampleOf returns a TOML file with all settings: those in set with their values there, the others
// as comments with their values in c.
func sampleOf(c Config, set Layer) string {
	var b strings.Builder
	b.WriteString(sampleHead)
	group := ""
	for _, s := range table {
		if s.notInFile {
			continue
		}
		if s.group() != group {
			group = s.group()
			fmt.Fprintf(&b, "\n[%s]\n", group)
		}
		help := strings.ToUpper(s.Help[:1]) + s.Help[1:]
		if len(s.choices) > 1 && !strings.Contains(help, s.choices[0]) {
			help += ": " + strings.Join(s.choices, ", ")
		}
		key := strings.TrimPrefix(s.tomlKey(), group+".")
		line := fmt.Sprintf("# %s = %s", key, s.literal(s.text(&c)))
		if g := lastAssignment(s.Name, set); g.setting.Name != "" {
			line = fmt.Sprintf("%s = %s", g.suffixed(key), g.literal())
		}
		fmt.Fprintf(&b, "\n# %s.\n%s\n", help, line)
	}
	return b.String()
}

// literal returns the value of an assignment in TOML syntax.
func (g assignment) literal() string {
	if g.inFile {
		return tomlString(g.text)
	}
	return g.setting.literal(g.text)
}

// literal returns a value of the setting in TOML syntax.
func (s Setting) literal(text string) string {
	switch s.kind().toml {
	case reflect.Slice:
		return tomlList(splitList(text))
	case reflect.Map:
		return tomlTable(splitList(text))
	}
	switch s.field(new(Config)).Kind() {
	case reflect.Float64:
		if !strings.ContainsAny(text, ".eE") {
			return text + ".0" // without it, it would be an integer
		}
		return text
	case reflect.Int, reflect.Bool:
		return text
	default:
		return tomlString(text)
	}
}

// tomlList returns a list of strings in TOML syntax.
func tomlList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = tomlString(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// tomlTable returns NAME=VALUE pairs as an inline table in TOML syntax.
func tomlTable(pairs []string) string {
	quoted := make([]string, len(pairs))
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		quoted[i] = tomlString(name) + " = " + tomlString(value)
	}
	return "{" + strings.Join(quoted, ", ") + "}"
}

// tomlString quotes a string, without escapes if it contains backslashes, such as
// Windows paths.
func tomlString(text string) string {
	needsEscapes := func(r rune) bool { return r == '\'' || !unicode.IsPrint(r) }
	if strings.Contains(text, `\`) && !strings.ContainsFunc(text, needsEscapes) {
		return "'" + text + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r > 0xffff && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
