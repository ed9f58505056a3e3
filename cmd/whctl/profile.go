package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) profileCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "profile", Aliases: []string{"profiles"}, Usage: "manage the services that you use",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the profiles", Flags: output.Flags(), Action: p.listProfiles},
			{Name: "use", ArgsUsage: "PROFILE", Usage: "use a profile from now on", Action: p.useProfile},
			{
				Name: "add", ArgsUsage: "NAME", Usage: "make a profile", Flags: profileFlags(), Action: p.addProfile,
				Description: `whctl profile add prod --url https://erp01:5050 --user jsmith --colour red --protected
whctl profile add test --url http://127.0.0.1:5050`,
			},
			{Name: "remove", Aliases: []string{"rm"}, ArgsUsage: "PROFILE", Usage: "delete a profile and its login", Action: p.removeProfile},
			{Name: "show", ArgsUsage: "[PROFILE]", Usage: "show what a profile says", Flags: output.Flags(), Action: p.showProfile},
		},
	}}
}

// profileFlags are the settings of profiles that are no flags of every command.
func profileFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range settingTable {
		name := strings.ReplaceAll(s.name, "_", "-")
		switch {
		case !s.ofProfiles || s.flag != "":
		case s.form == yesNo:
			flags = append(flags, &cli.BoolFlag{Name: name, Usage: s.meaning})
		default:
			flags = append(flags, &cli.StringFlag{Name: name, Usage: s.meaning})
		}
	}
	return flags
}

var profileColumns = []output.Column{
	{Name: "Profile", Type: record.Text}, {Name: "Used", Type: record.Bool}, {Name: "URL", Type: record.Text}, {Name: "User", Type: record.Text}, {Name: "SignedIn", Type: record.Text},
	{Name: "Colour", Type: record.Text}, {Name: "ReadOnly", Type: record.Bool}, {Name: "Protected", Type: record.Bool},
}

func (p *program) listProfiles(c *cli.Context) error {
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	logins, err := p.vault.readLogins()
	if err != nil {
		return err
	}
	var lines [][]any
	for _, name := range s.file.profiles() {
		signedIn := any(nil)
		if l := logins.all[name]; l != nil {
			signedIn = l.Store
		}
		value := func(key string) string {
			if e := s.file.lookup(name, key); e != nil {
				return e.text
			}
			return ""
		}
		lines = append(lines, []any{
			name, name == s.profile, nilIfEmpty(value("url")), nilIfEmpty(value("user")), signedIn,
			nilIfEmpty(value("colour")), value("read_only") == "true", value("protected") == "true",
		})
	}
	_, err = p.printer(c).Lines(profileColumns, lines)
	return err
}

// knownProfile is the configuration, if it has the profile.
func (p *program) knownProfile(name string) (*configFile, error) {
	file, err := readConfig(p.env)
	if err != nil {
		return nil, err
	}
	if !file.has(name) {
		return nil, cmdline.Usagef("there is no profile %q%s; whctl profile list shows them", name, cmdline.DidYouMean(record.Near(name, file.profiles())))
	}
	return file, nil
}

func (p *program) useProfile(c *cli.Context) error {
	name := c.Args().First()
	file, err := p.knownProfile(name)
	if err != nil {
		return err
	}
	s, _ := settingNamed("profile")
	if file, err = file.set("", s, name); err != nil {
		return err
	}
	if err := file.save(); err != nil {
		return err
	}
	p.notice(c, "profile %s is used from now on", name)
	return nil
}

// addProfile is whctl profile add. The first profile is used from now on.
func (p *program) addProfile(c *cli.Context) error {
	name := c.Args().First()
	if err := checkProfileName(name); err != nil {
		return err
	}
	file, err := readConfig(p.env)
	if err != nil {
		return err
	}
	if file.has(name) {
		return cmdline.Usagef("there is a profile %q already; whctl config set --profile %s changes it", name, name)
	}
	if !c.IsSet("url") {
		return cmdline.Usagef("profile add needs the address of the service: --url")
	}
	first := len(file.profiles()) == 0
	if file, err = setFromFlags(c, file, name); err != nil {
		return err
	}
	if s, _ := settingNamed("profile"); first {
		if file, err = file.set("", s, name); err != nil {
			return err
		}
	}
	if err := file.save(); err != nil {
		return err
	}
	p.notice(c, "profile %s is added to %s", name, file.path)
	return nil
}

// setFromFlags sets what flags say of a profile.
func setFromFlags(c *cli.Context, file *configFile, profile string) (*configFile, error) {
	for _, s := range settingTable {
		flag := strings.ReplaceAll(s.name, "_", "-")
		if !s.ofProfiles || !c.IsSet(flag) {
			continue
		}
		text := c.String(flag)
		if s.form == yesNo {
			text = strconv.FormatBool(c.Bool(flag))
		}
		if err := s.form.check(text); err != nil {
			return nil, cmdline.Usagef("--%s %s", flag, err)
		}
		var err error
		if file, err = file.set(profile, s, text); err != nil {
			return nil, err
		}
	}
	return file, nil
}

func (p *program) removeProfile(c *cli.Context) error {
	name := c.Args().First()
	file, err := p.knownProfile(name)
	if err != nil {
		return err
	}
	if file, err = file.without(name); err != nil {
		return err
	}
	if err := file.save(); err != nil {
		return err
	}
	logins, err := p.vault.readLogins()
	if err != nil {
		return err
	}
	if l := logins.all[name]; l != nil {
		if err := p.vault.forget(c.Context, l); err != nil {
			p.notice(c, "its login is forgotten, but not deleted: %s", err)
		}
	}
	p.notice(c, "profile %s is removed", name)
	return nil
}

var valueColumns = []output.Column{{Name: "Setting", Type: record.Text}, {Name: "Value", Type: record.Text}}

func (p *program) showProfile(c *cli.Context) error {
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	name := c.Args().First()
	if name == "" {
		name = s.profile
	}
	if name == "" {
		return cmdline.Usagef("no profile is used; whctl profile list shows them")
	}
	file, err := p.knownProfile(name)
	if err != nil {
		return err
	}
	lines := [][]any{{"profile", name}}
	for _, one := range settingTable {
		if e := file.lookup(name, one.name); e != nil && one.ofProfiles {
			lines = append(lines, []any{one.name, e.text})
		}
	}
	_, err = p.printer(c).Lines(valueColumns, lines)
	return err
}
