package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
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
	for _, s := range profile.Table {
		name := strings.ReplaceAll(s.Name, "_", "-")
		switch {
		case !s.OfProfiles || s.Flag != "":
		case s.Form == profile.YesNo:
			flags = append(flags, &cli.BoolFlag{Name: name, Usage: s.Meaning})
		default:
			flags = append(flags, &cli.StringFlag{Name: name, Usage: s.Meaning})
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
	logins, err := p.vault.ReadLogins()
	if err != nil {
		return err
	}
	var lines [][]any
	for _, name := range s.File.Profiles() {
		signedIn := any(nil)
		if l := logins.All[name]; l != nil {
			signedIn = l.Store
		}
		value := func(key string) string {
			if e := s.File.Lookup(name, key); e != nil {
				return e.Text
			}
			return ""
		}
		lines = append(lines, []any{
			name, name == s.Profile, nilIfEmpty(value("url")), nilIfEmpty(value("user")), signedIn,
			nilIfEmpty(value("colour")), value("read_only") == "true", value("protected") == "true",
		})
	}
	_, err = p.printer(c).Lines(profileColumns, lines)
	return err
}

// knownProfile is the configuration, if it has the profile.
func (p *program) knownProfile(name string) (*profile.File, error) {
	file, err := profile.Read(p.env)
	if err != nil {
		return nil, err
	}
	if !file.Has(name) {
		return nil, cmdline.Usagef("there is no profile %q%s; whctl profile list shows them", name, cmdline.DidYouMean(record.Suggest(name, file.Profiles())))
	}
	return file, nil
}

func (p *program) useProfile(c *cli.Context) error {
	name := c.Args().First()
	file, err := p.knownProfile(name)
	if err != nil {
		return err
	}
	s, _ := profile.Named("profile")
	if file, err = file.Set("", s, name); err != nil {
		return err
	}
	if err := file.Save(); err != nil {
		return err
	}
	p.notice(c, "profile %s is used from now on", name)
	return nil
}

// addProfile is whctl profile add. The first profile is used from now on.
func (p *program) addProfile(c *cli.Context) error {
	name := c.Args().First()
	if err := profile.CheckName(name); err != nil {
		return err
	}
	file, err := profile.Read(p.env)
	if err != nil {
		return err
	}
	if file.Has(name) {
		return cmdline.Usagef("there is a profile %q already; whctl config set --profile %s changes it", name, name)
	}
	if !c.IsSet("url") {
		return cmdline.Usagef("profile add needs the address of the service: --url")
	}
	first := len(file.Profiles()) == 0
	if file, err = setFromFlags(c, file, name); err != nil {
		return err
	}
	if s, _ := profile.Named("profile"); first {
		if file, err = file.Set("", s, name); err != nil {
			return err
		}
	}
	if err := file.Save(); err != nil {
		return err
	}
	p.notice(c, "profile %s is added to %s", name, file.Path)
	return nil
}

// setFromFlags sets what flags say of a profile.
func setFromFlags(c *cli.Context, file *profile.File, name string) (*profile.File, error) {
	for _, s := range profile.Table {
		flag := strings.ReplaceAll(s.Name, "_", "-")
		if !s.OfProfiles || !c.IsSet(flag) {
			continue
		}
		text := c.String(flag)
		if s.Form == profile.YesNo {
			text = strconv.FormatBool(c.Bool(flag))
		}
		if err := s.Form.Check(text); err != nil {
			return nil, cmdline.Usagef("--%s %s", flag, err)
		}
		var err error
		if file, err = file.Set(name, s, text); err != nil {
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
	if file, err = file.Without(name); err != nil {
		return err
	}
	if err := file.Save(); err != nil {
		return err
	}
	logins, err := p.vault.ReadLogins()
	if err != nil {
		return err
	}
	if l := logins.All[name]; l != nil {
		if err := p.vault.Forget(c.Context, l); err != nil {
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
		name = s.Profile
	}
	if name == "" {
		return cmdline.Usagef("no profile is used; whctl profile list shows them")
	}
	file, err := p.knownProfile(name)
	if err != nil {
		return err
	}
	lines := [][]any{{"profile", name}}
	for _, one := range profile.Table {
		if e := file.Lookup(name, one.Name); e != nil && one.OfProfiles {
			lines = append(lines, []any{one.Name, e.Text})
		}
	}
	_, err = p.printer(c).Lines(valueColumns, lines)
	return err
}
