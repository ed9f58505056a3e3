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

// Print writes every setting with its value, where that came from and
// what it does.
func Print(w io.Writer, c Config) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "SETTING\tVALUE\tFROM\tWHAT IT DOES")
	for _, s := range table {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", s.Name, cmp.Or(s.text(&c), "-"), c.Origin(s.Name), s.Help)
	}
	return columns.Flush()
}

const sampleHead = `# Settings of whd. Each stands here with its default, as a comment.
#
# A setting may also be given as a variable, such as WHD_QUERY_MAX_TAKE, or as
# a flag of whd serve, such as --query-max-take. Flags win over variables, and
# variables over this file. A secret may be given as the name of a file that holds
# it: admin_password_file, WHD_ADMIN_PASSWORD_FILE, --admin-password-file, or as a
# credential of systemd with the name of the setting.
`

// serviceHead begins the file of a service.
const serviceHead = `#
# A service reads this file again at: whd service reload. What that cannot change
# is named in the log, and waits for: whd service restart.
`

// ServiceSample writes the file that a new service begins with. Commands of whd
// beside the service find the service's data by it.
func ServiceSample(w io.Writer, env []string) error { return serviceSample(w, thisPlatform(), env) }

func serviceSample(w io.Writer, on platform, env []string) error {
	env = append(slices.Clone(on.environment(env)), "STATE_DIRECTORY=/var/lib/whd") // as the unit names it
	text := strings.Replace(sampleOf(defaults(on, env)), sampleHead, sampleHead+serviceHead, 1)
	_, err := io.WriteString(w, strings.Replace(text, "# data_dir = ", "data_dir = ", 1))
	return err
}

// Sample writes a commented file of all settings. Of the sources it looks at the
// platform alone, so that it neither repeats a secret nor takes a value of today
// for a default.
func Sample(w io.Writer, env []string) error {
	on := thisPlatform()
	_, err := io.WriteString(w, sampleOf(defaults(on, on.environment(env))))
	return err
}

// defaults is what the settings are without any source.
func defaults(on platform, env []string) (c Config) {
	for _, g := range defaultLayer(on, env) {
		_ = g.setting.put(&c, g.text) // which a test of the table proves to be right
	}
	return c
}

// sampleOf is a TOML file in which every setting stands as a comment with its
// value in c, which is its default.
func sampleOf(c Config) string {
	var b strings.Builder
	b.WriteString(sampleHead)
	group := ""
	for _, s := range table {
		if s.outside {
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
		fmt.Fprintf(&b, "\n# %s.\n# %s = %s\n", help, strings.TrimPrefix(s.tomlKey(), group+"."), s.literal(&c))
	}
	return b.String()
}

// literal is a setting's value in TOML.
func (s Setting) literal(c *Config) string {
	switch s.kind().toml {
	case reflect.Slice:
		return "[]" // as is every default of these kinds
	case reflect.Map:
		return "{}"
	}
	switch text := s.text(c); s.place(c).Kind() {
	case reflect.Int, reflect.Bool:
		return text
	default:
		return tomlString(text)
	}
}

// tomlString prefers the form without escapes, for the paths of Windows.
func tomlString(text string) string {
	if strings.Contains(text, `\`) && !strings.ContainsAny(text, "'\r\n") {
		return "'" + text + "'"
	}
	return fmt.Sprintf("%q", text)
}
