package config

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
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

// ServiceSample writes the initial settings file of a service, with the settings of flags. It
// also sets data_dir, so that other commands of whd find the service's data.
func ServiceSample(w io.Writer, flags Layer, env []string) error {
	return serviceSample(w, thisPlatform(), flags, env)
}

func serviceSample(w io.Writer, on platform, flags Layer, env []string) error {
	env = append(slices.Clone(on.environment(env)), "STATE_DIRECTORY=/var/lib/whd") // StateDirectory= of the unit
	c := defaults(on, env)
	set := map[string]string{"data_dir": tomlString(c.DataDir)}
	for _, g := range flags {
		// Installers pass an empty text for settings that were not chosen.
		if g.setting.notInFile || g.text == "" {
			continue
		}
		if err := g.setting.assign(new(Config), g.text); err != nil {
			return fmt.Errorf("%s: %w", g.origin, err)
		}
		set[g.setting.Name] = tomlString(g.text)
	}
	text := sampleOf(c, set)
	text = strings.Replace(text, sampleHead, sampleHead+serviceHead, 1)
	_, err := io.WriteString(w, text)
	return err
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

// sampleOf returns a TOML file with all settings: those in set with its values in TOML syntax,
// the others as comments with their values in c.
func sampleOf(c Config, set map[string]string) string {
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
		line := fmt.Sprintf("# %s = %s", key, s.literal(&c))
		if literal, ok := set[s.Name]; ok {
			line = fmt.Sprintf("%s = %s", key, literal)
		}
		fmt.Fprintf(&b, "\n# %s.\n%s\n", help, line)
	}
	return b.String()
}

// literal returns a setting's value in TOML syntax.
func (s Setting) literal(c *Config) string {
	text := s.text(c)
	switch s.kind().toml {
	case reflect.Slice:
		return tomlList(splitList(text))
	case reflect.Map:
		return "{}"
	}
	switch s.field(c).Kind() {
	case reflect.Int, reflect.Bool, reflect.Float64:
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

// tomlString quotes a string, without escapes if it contains backslashes, such as
// Windows paths.
func tomlString(text string) string {
	if strings.Contains(text, `\`) && !strings.ContainsAny(text, "'\r\n") {
		return "'" + text + "'"
	}
	return fmt.Sprintf("%q", text)
}
