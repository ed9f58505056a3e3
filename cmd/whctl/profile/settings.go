package profile

import (
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Settings are what is in force, each with where that was said.
type Settings struct {
	File    *File
	Profile string // empty where none is used
	Values  map[string]Value
}

// Value is the text of a setting and its origin.
type Value struct{ Text, Origin string }

// Text is the text of a setting.
func (s *Settings) Text(name string) string { return s.Values[name].Text }

// Yes is a setting that is true or false. It cannot fail, nor can Count, Span and
// Zone: the texts were checked.
func (s *Settings) Yes(name string) bool {
	yes, _ := strconv.ParseBool(s.Text(name))
	return yes
}

// Count is a setting that is a number.
func (s *Settings) Count(name string) int64 {
	n, _ := strconv.ParseInt(s.Text(name), 10, 64)
	return n
}

// Span is a setting that is a duration.
func (s *Settings) Span(name string) time.Duration {
	d, _ := time.ParseDuration(s.Text(name))
	return d
}

// Zone is the time zone in force.
func (s *Settings) Zone() *time.Location {
	zone, err := time.LoadLocation(s.Text("time_zone"))
	if err != nil {
		return time.Local
	}
	return zone
}

// resolve reads the settings. A command that makes a profile may name
// one that does not exist yet.
func resolve(c *cli.Context, env func(string) string, mayMake bool) (*Settings, error) {
	file, err := Read(env)
	if err != nil {
		return nil, err
	}
	s := &Settings{File: file, Values: make(map[string]Value)}
	for _, one := range Table {
		if err := s.find(c, env, one); err != nil {
			return nil, err
		}
		if one.Name == "profile" {
			if err := s.choose(mayMake); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// find finds the value of one setting, and checks it.
func (s *Settings) find(c *cli.Context, env func(string) string, one Setting) error {
	value := Value{one.initial, "default"}
	if in := s.File.Lookup(s.Section(one), one.Name); in != nil {
		value = Value{in.Text, fmt.Sprintf("%s:%d", s.File.Path, in.line)}
	}
	if text := env(one.env); one.env != "" && text != "" {
		value = Value{text, "variable " + one.env}
	}
	if one.Flag != "" && c.IsSet(one.Flag) {
		value = Value{fmt.Sprint(c.Value(one.Flag)), "flag --" + one.Flag}
	}
	if value.Text != "" {
		if err := one.Form.Check(value.Text); err != nil {
			return cmdline.Usagef("%s (%s) %s", one.Name, value.Origin, err)
		}
	}
	s.Values[one.Name] = value
	return nil
}

// Section is the profile that holds a setting, empty for the file's top.
func (s *Settings) Section(one Setting) string {
	if !one.OfProfiles {
		return ""
	}
	return s.Profile
}

// choose takes the profile that is named, which must exist unless it may be
// made.
func (s *Settings) choose(mayMake bool) error {
	named := s.Values["profile"]
	switch {
	case named.Text == "":
	case mayMake:
		if err := CheckName(named.Text); err != nil {
			return err
		}
	default:
		if err := s.File.mustHave(named.Text); err != nil {
			return cmdline.Usagef("profile (%s): %s", named.Origin, err)
		}
	}
	s.Profile = named.Text
	return nil
}

// Settings are what the file says of a profile, and what is initially so.
func (f *File) Settings(profile string) *Settings {
	s := &Settings{File: f, Profile: profile, Values: make(map[string]Value)}
	for _, one := range Table {
		s.Values[one.Name] = Value{one.initial, "default"}
		if in := f.Lookup(s.Section(one), one.Name); in != nil {
			s.Values[one.Name] = Value{in.Text, f.Path}
		}
	}
	return s
}
