package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/tui/theme"
)

// setting is one thing that a flag, a variable and the configuration file can
// say.
type setting struct {
	name       string // its key in the file
	ofProfiles bool   // stands in the table of a profile, else at the top of the file
	flag       string // of every command, or of those that print; empty for none
	env        string // empty for none
	form       form
	initial    string
	meaning    string
}

// settingTable is the only list of them: flags, variables, file, help and
// completion are made of it.
var settingTable = []setting{
	{name: "profile", flag: "profile", env: "WHCTL_PROFILE", form: anyText, meaning: "profile of the configuration to use"},
	{name: "format", env: "WHCTL_FORMAT", form: formatName, meaning: "format of rows; --format wins"},
	{name: "theme", env: "WHCTL_THEME", form: themeName, initial: theme.Auto, meaning: "colours of whctl tui; --theme wins"},
	{name: "timeout", flag: "timeout", env: "WHCTL_TIMEOUT", form: span, initial: client.DefaultTimeout.String(), meaning: "how long a reply may take to begin"},
	{name: "url", ofProfiles: true, flag: "url", env: envURL, form: address, initial: client.DefaultURL, meaning: "address of the service"},
	{name: "user", ofProfiles: true, flag: "user", env: envUser, form: anyText, meaning: "user name"},
	{name: "colour", ofProfiles: true, form: colourName, meaning: "colour of the profile's name in questions"},
	{name: "read_only", ofProfiles: true, flag: "read-only", env: "WHCTL_READ_ONLY", form: yesNo, initial: "false", meaning: "refuse whatever could change something"},
	{name: "protected", ofProfiles: true, form: yesNo, initial: "false", meaning: "before changes, ask for the profile's name"},
	{name: "ca_file", ofProfiles: true, flag: "ca-file", form: anyText, meaning: "PEM file of certificates to trust beside the system's"},
	{name: "insecure_tls", ofProfiles: true, flag: "insecure-tls", form: yesNo, initial: "false", meaning: "trust every certificate; for tests only"},
	{name: "default_take", ofProfiles: true, form: count, initial: strconv.Itoa(screenful), meaning: "rows of a table on a terminal"},
	{name: "time_zone", ofProfiles: true, form: zone, initial: "Local", meaning: "zone in which today begins, such as Europe/Berlin"},
}

func settingNamed(name string) (setting, bool) {
	i := slices.IndexFunc(settingTable, func(s setting) bool { return s.name == name })
	if i < 0 {
		return setting{}, false
	}
	return settingTable[i], true
}

// settingNames lists the keys, or those of profiles, or the others.
func settingNames(which func(setting) bool) []string {
	var names []string
	for _, s := range settingTable {
		if which(s) {
			names = append(names, s.name)
		}
	}
	return names
}

// noSetting is the error of a key that there is none of.
func noSetting(name string) error {
	names := settingNames(func(setting) bool { return true })
	return cmdline.Usagef("no setting %q%s; settings: %s", name, cmdline.DidYouMean(record.Near(name, names)), strings.Join(names, ", "))
}

// settingFlags are the flags of every command that are settings.
func settingFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range settingTable {
		if s.flag == "" {
			continue
		}
		usage := s.meaning
		if s.env != "" {
			usage += " (" + s.env + ")"
		}
		if s.form == yesNo {
			flags = append(flags, &cli.BoolFlag{Name: s.flag, Usage: usage})
		} else {
			flags = append(flags, &cli.StringFlag{Name: s.flag, Usage: usage, DefaultText: s.initial})
		}
	}
	return flags
}

// form is what a setting's text must look like.
type form uint8

const (
	anyText form = iota
	address
	yesNo
	count
	span
	colourName
	zone
	formatName
	themeName
)

// choices are what a text can be; nil where that is no list.
func (f form) choices() []string {
	switch f {
	case colourName:
		return colourNames()
	case formatName:
		return output.FormatNames()
	case themeName:
		return theme.Themes()
	}
	return nil
}

// check reports what would be right where the text is not.
func (f form) check(text string) error {
	switch f {
	case address:
		_, err := client.New(client.Options{URL: text})
		return err
	case yesNo:
		if _, err := strconv.ParseBool(text); err != nil {
			return fmt.Errorf("must be true or false")
		}
	case count:
		if n, err := strconv.ParseInt(text, 10, 32); err != nil || n < 1 {
			return fmt.Errorf("must be a number from 1")
		}
	case span:
		if d, err := time.ParseDuration(text); err != nil || d <= 0 {
			return fmt.Errorf("must be a duration such as 30s")
		}
	case zone:
		if _, err := time.LoadLocation(text); err != nil {
			return fmt.Errorf("must be Local, UTC or a zone such as Europe/Berlin")
		}
	}
	if names := f.choices(); names != nil {
		return oneOf(text, names)
	}
	return nil
}

// oneOf checks a text that has to be one of a list.
func oneOf(text string, names []string) error {
	if slices.Contains(names, strings.ToLower(text)) {
		return nil
	}
	return fmt.Errorf("must be one of %s%s", strings.Join(names, ", "), cmdline.DidYouMean(record.Near(text, names)))
}
