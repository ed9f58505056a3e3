package config

import (
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// fileSuffix ends the name under which a secret's file is given, in variables
// (WHD_ADMIN_PASSWORD_FILE), the TOML file and flags.
const fileSuffix = "_file"

// variable is the value of an environment variable, "" where it is not set.
func variable(env []string, name string) string {
	text := ""
	for _, entry := range env {
		if n, t, ok := strings.Cut(entry, "="); ok && n == name {
			text = t
		}
	}
	return text
}

// environmentLayer reads the WHD_ variables. An empty one is as good as none,
// since that is what compose files and service managers pass for "not set".
// Unknown ones may belong to someone else and are only warned about.
func environmentLayer(env []string) (Layer, []string) {
	known := make(map[string]given)
	var names []string
	for _, s := range table {
		known[s.Variable()] = given{setting: s}
		names = append(names, s.Variable())
		if s.secret() {
			inFile := s.Variable() + strings.ToUpper(fileSuffix)
			known[inFile] = given{setting: s, inFile: true}
			names = append(names, inFile)
		}
	}
	var l Layer
	var warnings []string
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		g, is := known[name]
		switch {
		case !strings.HasPrefix(name, "WHD_") || text == "":
		case is:
			g.text, g.origin = text, Origin("variable "+name)
			l = append(l, g)
		default:
			warnings = append(warnings, fmt.Sprintf("unknown variable %s is ignored%s", name, DidYouMean("", record.Near(name, names))))
		}
	}
	return l, warnings
}
