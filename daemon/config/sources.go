package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// fileSuffix ends the name under which a secret's file is given, in variables
// (WHD_ADMIN_PASSWORD_FILE), the TOML file and flags.
const fileSuffix = "_file"

// given is a setting's text in one source.
type given struct {
	setting Setting
	text    string
	inFile  bool // text names a file that holds the secret
	origin  Origin
}

// waysToGive lists the settings, and the secrets once more, in files.
func waysToGive() (all []given) {
	for _, s := range table {
		all = append(all, given{setting: s})
		if s.secret() {
			all = append(all, given{setting: s, inFile: true})
		}
	}
	return all
}

// suffixed is the name of a setting, or of its file.
func (g given) suffixed(name string) string {
	if g.inFile {
		name += fileSuffix
	}
	return name
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

// Layer is what one source gives. Later layers win over earlier ones.
type Layer []given

// settingText is a setting's text in the last of the layers that have it.
func settingText(name string, layers ...Layer) (last given) {
	for _, g := range slices.Concat(layers...) {
		if g.setting.Name == name {
			last = g
		}
	}
	return last
}

// platform is what the places of files depend on, beside the environment.
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

// variable is the value of an environment variable, "" where it is not set.
func variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if text, is := strings.CutPrefix(entry, name+"="); is {
			return text
		}
	}
	return ""
}

// configPlace is where the platform wants a service's settings.
func (on platform) configPlace(env []string) string {
	if on.os == "windows" {
		return under(variable(env, "PROGRAMDATA"), `\whd\whd.toml`)
	}
	return "/etc/whd/whd.toml"
}

// stateDirectory is where the platform wants a service's files, or "" where
// the environment does not say.
func (on platform) stateDirectory(env []string) string {
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

// defaultLayer gives every setting its default, so that the places of all of
// them are filled whatever the other sources hold.
func defaultLayer(on platform, env []string) (l Layer) {
	for _, s := range table {
		text := s.Default
		if s.state {
			text = on.stateDirectory(env)
		}
		if text != "" {
			l = append(l, given{setting: s, text: text, origin: byDefault})
		}
	}
	return l
}

// credentialLayer reads the secrets that systemd hands to a service: each is a
// file with the name of its setting.
func credentialLayer(env []string, readFile func(string) ([]byte, error)) (l Layer) {
	dir := variable(env, "CREDENTIALS_DIRECTORY")
	for _, g := range waysToGive() {
		if dir == "" || !g.inFile {
			continue
		}
		g.text, g.origin = path.Join(dir, g.setting.Name), Origin("credential "+g.setting.Name)
		if _, err := readFile(g.text); !errors.Is(err, fs.ErrNotExist) {
			l = append(l, g)
		}
	}
	return l
}

// environmentLayer reads the WHD_ variables. An empty one is as good as none,
// since that is what compose files and service managers pass for "not set".
// Unknown ones may belong to someone else and are only warned about.
func environmentLayer(env []string) (l Layer, warnings []string) {
	known := make(map[string]given)
	var names []string
	for _, g := range waysToGive() {
		name := strings.ToUpper(g.suffixed(g.setting.Variable()))
		known[name] = g
		names = append(names, name)
	}
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		g, is := known[name]
		switch {
		case !strings.HasPrefix(name, "WHD_") || text == "":
		case is:
			g.text, g.origin = text, Origin("variable "+name)
			l = append(l, g)
		default:
			warnings = append(warnings, fmt.Sprintf("unknown variable %s is ignored%s", name, record.DidYouMean(record.Suggest(name, names))))
		}
	}
	return l, warnings
}
