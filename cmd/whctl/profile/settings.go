package profile

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Settings holds the effective settings with their sources.
type Settings struct {
	File    *File
	Profile string // empty if there is no current profile
	Missing error  // names the current profile if it does not exist; only with MayBeMissing
	Values  map[string]Value
}

// Value is the text of a setting, or a password, and its source.
type Value struct{ Text, Origin string }

// Text returns the text of a setting.
func (s *Settings) Text(name string) string { return s.Values[name].Text }

// Bool returns the value of a boolean setting. Bool, Count, Duration and Zone ignore
// errors, because all texts have been checked.
func (s *Settings) Bool(name string) bool {
	yes, _ := strconv.ParseBool(s.Text(name))
	return yes
}

// Count returns the value of a numeric setting.
func (s *Settings) Count(name string) int64 {
	n, _ := strconv.ParseInt(s.Text(name), 10, 64)
	return n
}

// Duration returns the value of a duration setting.
func (s *Settings) Duration(name string) time.Duration {
	d, _ := time.ParseDuration(s.Text(name))
	return d
}

// Zone returns the effective time zone.
func (s *Settings) Zone() *time.Location {
	zone, err := time.LoadLocation(s.Text("time_zone"))
	if err != nil {
		return time.Local
	}
	return zone
}

// Existence is how Resolve treats a current profile that does not exist.
type Existence uint8

const (
	MustExist    Existence = iota
	MayBeCreated           // it is the current profile
	MayBeMissing           // there is no current profile; for commands that show or repair the configuration
)

// resolve determines the effective settings.
func resolve(c *cli.Context, env func(string) string, profile Existence) (*Settings, error) {
	file, err := Read(env)
	if err != nil {
		return nil, err
	}
	s := &Settings{File: file, Values: make(map[string]Value)}
	for _, setting := range Table {
		if err := s.find(c, env, setting); err != nil {
			return nil, err
		}
		if setting.Name == "profile" {
			if err := s.choose(profile); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// find determines and checks the value of a setting.
func (s *Settings) find(c *cli.Context, env func(string) string, setting Setting) error {
	value := Value{setting.initial, "default"}
	if entry := s.File.Lookup(s.Section(setting), setting.Name); entry != nil {
		value = Value{entry.Text, fmt.Sprintf("%s:%d", s.File.Path, entry.line)}
	}
	if setting.env != "" && env(setting.env) != "" {
		value = Value{env(setting.env), "variable " + setting.env}
	}
	if setting.Flag != "" && c.IsSet(setting.Flag) {
		value = Value{fmt.Sprint(c.Value(setting.Flag)), "flag --" + setting.Flag}
		if value.Text == "" && setting.Form.mustBeSet {
			return emptyFlagError(setting.Flag, os.Environ())
		}
	}
	if value.Text != "" {
		if err := setting.Form.Check(value.Text); err != nil {
			return cmdline.Usagef("%s (%s) %s", setting.Name, value.Origin, err)
		}
		value.Text = setting.Form.completed(value.Text)
	}
	s.Values[setting.Name] = value
	return nil
}

// emptyFlagError returns the error of a flag with an empty value. It is probably that of a variable
// of the shell, which the error names if it is in the environment.
func emptyFlagError(flag string, environment []string) error {
	var empty []string
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		isNamedAlike := strings.Contains(strings.ToUpper(name), strings.ToUpper(flag))
		if value == "" && isNamedAlike {
			empty = append(empty, name)
		}
	}
	if len(empty) == 0 {
		return cmdline.Usagef("--%s is empty; is it from a variable that is not set?", flag)
	}
	return cmdline.Usagef("--%s is empty; is it from %s, which is empty?", flag, strings.Join(empty, " or "))
}

// Section returns the profile that has the setting; empty for top-level settings.
func (s *Settings) Section(setting Setting) string {
	if !setting.OfProfiles {
		return ""
	}
	return s.Profile
}

// choose sets the current profile.
func (s *Settings) choose(profile Existence) error {
	named := s.Values["profile"]
	if named.Text == "" {
		return nil
	}
	if profile == MayBeCreated {
		s.Profile = named.Text
		return CheckName(named.Text)
	}
	err := s.File.mustHave(named.Text)
	if err == nil {
		s.Profile = named.Text
		return nil
	}
	err = cmdline.Usagef("profile (%s): %s", named.Origin, err)
	if profile == MayBeMissing {
		s.Missing = err
		return nil
	}
	return err
}

// Settings returns the settings of a profile in the file, and the defaults.
func (f *File) Settings(profile string) *Settings {
	s := &Settings{File: f, Profile: profile, Values: make(map[string]Value)}
	for _, setting := range Table {
		s.Values[setting.Name] = Value{setting.initial, "default"}
		if entry := f.Lookup(s.Section(setting), setting.Name); entry != nil {
			s.Values[setting.Name] = Value{setting.Form.completed(entry.Text), f.Path}
		}
	}
	return s
}
