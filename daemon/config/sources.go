package config

import (
	"bytes"
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

// fileSuffix is the suffix of variables (WHD_ADMIN_PASSWORD_FILE), TOML keys and flags
// that name a secret's file.
const fileSuffix = "_file"

// assignment is the value of a setting in one source, as text.
type assignment struct {
	setting Setting
	text    string
	inFile  bool // text names a file that holds the secret
	origin  Origin
}

// assignable lists everything that a source can set: the settings, and the files of
// the secrets.
func assignable() (assignments []assignment) {
	for _, s := range table {
		assignments = append(assignments, assignment{setting: s})
		if s.secret() {
			assignments = append(assignments, assignment{setting: s, inFile: true})
		}
	}
	return assignments
}

// suffixed returns name, with fileSuffix if the assignment names a file.
func (g assignment) suffixed(name string) string {
	if g.inFile {
		name += fileSuffix
	}
	return name
}

// content returns the setting's text, if necessary read from the secret's file. One
// line break at the end of the file is not part of the secret.
func (g assignment) content(readFile func(string) ([]byte, error)) (string, error) {
	if !g.inFile {
		return g.text, nil
	}
	data, err := readFile(g.text)
	if err != nil {
		return "", fmt.Errorf("cannot read the file %s: %w", g.text, cause(err))
	}
	data, err = withoutMark(data)
	if err != nil {
		return "", fmt.Errorf("the file %s %w", g.text, err)
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if secret == "" {
		return "", fmt.Errorf("the file %s is empty", g.text)
	}
	return secret, nil
}

// withoutMark removes the mark of UTF-8 at the start of a file, which Notepad and Windows PowerShell
// write. It returns an error for UTF-16, in which that shell writes the output of commands.
func withoutMark(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("is in UTF-16; save it in UTF-8")
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
}

// Layer contains the assignments of one source. Later layers override earlier ones.
type Layer []assignment

// lastAssignment returns the assignment of a setting in the last layer that has one,
// the zero value if none has.
func lastAssignment(name string, layers ...Layer) assignment {
	for _, l := range slices.Backward(layers) {
		for _, g := range slices.Backward(l) {
			if g.setting.Name == name {
				return g
			}
		}
	}
	return assignment{}
}

// platform determines the default paths of files, together with the environment.
type platform struct {
	os        string
	superuser bool
}

func thisPlatform() platform {
	return platform{os: runtime.GOOS, superuser: os.Geteuid() == 0}
}

// environment returns env with upper-case names on Windows, where names are
// case-insensitive.
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

// variable returns the value of an environment variable, "" if it is not set.
func variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			return text
		}
	}
	return ""
}

// configPath returns the platform's path of a service's settings file.
func (on platform) configPath(env []string) string {
	if on.os == "windows" {
		return joinPath(variable(env, "PROGRAMDATA"), `\whd\whd.toml`)
	}
	return "/etc/whd/whd.toml"
}

// stateDirectory returns the platform's directory for a service's files, or "" if the
// environment does not determine it.
func (on platform) stateDirectory(env []string) string {
	fromSystemd, _, _ := strings.Cut(variable(env, "STATE_DIRECTORY"), ":")
	switch {
	case on.os == "linux" && path.IsAbs(fromSystemd):
		return fromSystemd
	case on.os == "windows":
		return joinPath(variable(env, "PROGRAMDATA"), `\whd`)
	case on.os == "darwin":
		return joinPath(variable(env, "HOME"), "/Library/Application Support/whd")
	case on.superuser:
		return "/var/lib/whd"
	case path.IsAbs(variable(env, "XDG_STATE_HOME")):
		return joinPath(variable(env, "XDG_STATE_HOME"), "/whd")
	}
	return joinPath(variable(env, "HOME"), "/.local/state/whd")
}

func joinPath(base, tail string) string {
	if base == "" {
		return ""
	}
	return strings.TrimRight(base, `/\`) + tail
}

// defaultLayer returns the defaults of all settings.
func defaultLayer(on platform, env []string) (l Layer) {
	for _, s := range table {
		text := s.Default
		if s.state {
			text = on.stateDirectory(env)
		}
		if text != "" {
			l = append(l, assignment{setting: s, text: text, origin: byDefault})
		}
	}
	return l
}

// credentialLayer returns the secrets in systemd credentials: files with the names of
// their settings in CREDENTIALS_DIRECTORY.
func credentialLayer(env []string, readFile func(string) ([]byte, error)) (l Layer) {
	dir := variable(env, "CREDENTIALS_DIRECTORY")
	if dir == "" {
		return nil
	}
	for _, g := range assignable() {
		if !g.inFile {
			continue
		}
		g.text = path.Join(dir, g.setting.Name)
		g.origin = Origin("credential " + g.setting.Name)
		if _, err := readFile(g.text); !errors.Is(err, fs.ErrNotExist) {
			l = append(l, g)
		}
	}
	return l
}

// environmentLayer reads the WHD_ variables. Empty variables count as unset, since
// compose files and service managers pass them that way. Unknown variables may belong
// to other programs and cause only warnings.
func environmentLayer(env []string) (l Layer, warnings []string) {
	known := make(map[string]assignment)
	var names []string
	for _, g := range assignable() {
		name := strings.ToUpper(g.suffixed(g.setting.Variable()))
		known[name] = g
		names = append(names, name)
	}
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "WHD_") || text == "" {
			continue
		}
		g, ok := known[name]
		if !ok {
			suggestion := record.DidYouMean(record.Suggest(name, names))
			warnings = append(warnings, fmt.Sprintf("unknown variable %s is ignored%s", name, suggestion))
			continue
		}
		g.text = text
		g.origin = Origin("variable " + name)
		l = append(l, g)
	}
	return l, warnings
}
