package daemon

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// printSettings writes every setting with its value, where that came from and
// what it does.
func printSettings(w io.Writer, c Config, origins *Origins) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "SETTING\tVALUE\tFROM\tWHAT IT DOES")
	for _, s := range settings() {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", s.name, s.shown(&c), origins.Of(s.name), s.help)
	}
	return columns.Flush()
}

// shown is a setting's value for people. Secrets are stars.
func (s setting) shown(c *Config) string {
	text := s.value(c).text()
	if text == "" {
		return "-"
	}
	return text
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

// serviceSample writes the file that a new service begins with. Whoever runs a
// command of whd beside the service finds the service's data by it.
func serviceSample(w io.Writer, on platform, env []string) error {
	var c Config
	var wrong UsageError
	env = append(slices.Clone(env), "STATE_DIRECTORY=/var/lib/whd") // as the unit names it
	defaultLayer(settings(), on, env).apply(&c, &Origins{of: make(map[string]Origin)}, nil, &wrong)
	if len(wrong.Problems) > 0 {
		return &wrong
	}
	var b strings.Builder
	if err := printSample(&b, c); err != nil {
		return err
	}
	text := strings.Replace(b.String(), sampleHead, sampleHead+serviceHead, 1)
	_, err := io.WriteString(w, strings.Replace(text, "# data_dir = ", "data_dir = ", 1))
	return err
}

// printSample writes a TOML file in which every setting stands as a comment
// with its default in c.
func printSample(w io.Writer, c Config) error {
	var b strings.Builder
	b.WriteString(sampleHead)
	group := ""
	for _, s := range settings() {
		if s.outside {
			continue
		}
		if s.group() != group {
			group = s.group()
			fmt.Fprintf(&b, "\n[%s]\n", group)
		}
		help := strings.ToUpper(s.help[:1]) + s.help[1:]
		if len(s.choices) > 1 && !strings.Contains(help, s.choices[0]) {
			help += ": " + strings.Join(s.choices, ", ")
		}
		fmt.Fprintf(&b, "\n# %s.\n# %s = %s\n", help, strings.TrimPrefix(cmp.Or(s.key, s.name), group+"."), s.literal(&c))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// literal is a setting's value in TOML.
func (s setting) literal(c *Config) string {
	v := s.value(c)
	switch v.(type) {
	case intValue, boolValue:
		return v.text()
	case networksValue, originsValue, hostsValue:
		return "[]" // as is every default of these kinds
	case mapValue:
		return "{}"
	}
	return tomlString(v.text())
}

// tomlString prefers the form without escapes, for the paths of Windows.
func tomlString(text string) string {
	if strings.Contains(text, `\`) && !strings.ContainsAny(text, "'\r\n") {
		return "'" + text + "'"
	}
	return fmt.Sprintf("%q", text)
}
