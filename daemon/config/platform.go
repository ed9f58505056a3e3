package config

import (
	"errors"
	"io/fs"
	"path"
)

// configFile is the file of settings that is read: the one that a variable or a
// flag names, else the platform's where it exists. `--config=` is none.
func (from sources) configFile(env []string, environment Layer) given {
	config, _ := settingNamed("config")
	named := settingText(config.Name, environment, from.flags)
	named.setting = config
	if named.origin != "" {
		return named
	}
	named.origin = byDefault
	place := from.platform.configPlace(env)
	if place == "" {
		return named
	}
	if _, err := from.readFile(place); !errors.Is(err, fs.ErrNotExist) {
		named.text = place // also where it cannot be read, which is told with its name
	}
	return named
}

// configPlace is where the platform wants a service's settings.
func (on platform) configPlace(env []string) string {
	if on.os == "windows" {
		return under(variable(env, "PROGRAMDATA"), `\whd\whd.toml`)
	}
	return "/etc/whd/whd.toml"
}

// credentialLayer reads the secrets that systemd hands to a service: each is a
// file with the name of its setting.
func credentialLayer(env []string, readFile func(string) ([]byte, error)) Layer {
	dir := variable(env, "CREDENTIALS_DIRECTORY")
	if dir == "" {
		return nil
	}
	var l Layer
	for _, s := range table {
		place := path.Join(dir, s.Name)
		if !s.secret() {
			continue
		}
		if _, err := readFile(place); !errors.Is(err, fs.ErrNotExist) {
			l = append(l, given{setting: s, text: place, inFile: true, origin: Origin("credential " + s.Name)})
		}
	}
	return l
}
