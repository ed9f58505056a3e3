package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// settings are what is in force, each with where that was said.
type settings struct {
	file    *configFile
	profile string // empty where none is used
	values  map[string]told
}

// told is the text of a setting and its origin.
type told struct{ text, origin string }

func (s *settings) text(name string) string { return s.values[name].text }

// yes, count, span and zone cannot fail, since the texts were checked.
func (s *settings) yes(name string) bool {
	yes, _ := strconv.ParseBool(s.text(name))
	return yes
}

func (s *settings) count(name string) int64 {
	n, _ := strconv.ParseInt(s.text(name), 10, 64)
	return n
}

func (s *settings) span(name string) time.Duration {
	d, _ := time.ParseDuration(s.text(name))
	return d
}

func (s *settings) zone() *time.Location {
	zone, err := time.LoadLocation(s.text("time_zone"))
	if err != nil {
		return time.Local
	}
	return zone
}

// settings finds out what is in force: flags win over variables, these over the
// profile, and that over what is initially so.
func (p *program) settings(c *cli.Context) (*settings, error) {
	if p.resolved == nil {
		s, err := resolve(c, p.env, false)
		if err != nil {
			return nil, err
		}
		p.resolved = s
	}
	return p.resolved, nil
}

// resolve reads the settings anew. Whoever is going to make a profile may name
// one that is not there yet.
func resolve(c *cli.Context, env func(string) string, mayMake bool) (*settings, error) {
	file, err := readConfig(env)
	if err != nil {
		return nil, err
	}
	s := &settings{file: file, values: make(map[string]told)}
	for _, one := range settingTable {
		if err := s.find(c, env, one); err != nil {
			return nil, err
		}
		if one.name == "profile" {
			if err := s.choose(mayMake); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// find finds the value of one setting, and checks it.
func (s *settings) find(c *cli.Context, env func(string) string, one setting) error {
	value := told{one.initial, "default"}
	if in := s.file.lookup(s.section(one), one.name); in != nil {
		value = told{in.text, fmt.Sprintf("%s:%d", s.file.path, in.line)}
	}
	if text := env(one.env); one.env != "" && text != "" {
		value = told{text, "variable " + one.env}
	}
	if one.flag != "" && c.IsSet(one.flag) {
		value = told{fmt.Sprint(c.Value(one.flag)), "flag --" + one.flag}
	}
	if value.text != "" {
		if err := one.form.check(value.text); err != nil {
			return cmdline.Usagef("%s (%s) %s", one.name, value.origin, err)
		}
	}
	s.values[one.name] = value
	return nil
}

// section is the profile in which a setting stands, empty for the file's top.
func (s *settings) section(one setting) string {
	if !one.ofProfiles {
		return ""
	}
	return s.profile
}

// choose takes the profile that is named, which must exist unless it may be
// made.
func (s *settings) choose(mayMake bool) error {
	named := s.values["profile"]
	switch {
	case named.text == "":
	case mayMake:
		if err := checkProfileName(named.text); err != nil {
			return err
		}
	case !s.file.has(named.text):
		near := cmdline.DidYouMean(record.Near(named.text, s.file.profiles()))
		return cmdline.Usagef("profile (%s): there is no profile %q%s; whctl profile list shows them", named.origin, named.text, near)
	}
	s.profile = named.text
	return nil
}
