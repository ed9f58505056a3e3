package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

func profileCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "profile",
		Aliases: []string{"profiles"},
		Usage:   "manage profiles, each with the address, settings and login of a service",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list profiles", Flags: output.Flags(), Action: command.With(listProfiles)},
			{
				Name:      "show",
				ArgsUsage: "[PROFILE]",
				Usage:     "show the settings of a profile",
				Flags:     output.Flags(),
				Action:    command.With(showProfile),
			},
			{
				Name:      "create",
				Aliases:   []string{"add"},
				ArgsUsage: "NAME",
				Usage:     "create a profile",
				Flags:     profileFlags(),
				Action:    command.With(createProfile),
				Description: `whctl profile create prod --url https://erp01:5050 --user jsmith --colour red --protected
whctl profile create test --url http://127.0.0.1:5050`,
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "PROFILE",
				Usage:     "delete a profile and its login",
				Action:    command.With(deleteProfile),
			},
			{
				Name:      "use",
				ArgsUsage: "PROFILE",
				Usage:     "set the default profile",
				Action:    command.With(useProfile),
			},
		},
	}}
}

// profileFlags returns flags for the profile settings that are not global flags.
func profileFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range profile.Table {
		name := strings.ReplaceAll(s.Name, "_", "-")
		switch {
		case !s.OfProfiles || s.Flag != "":
		case s.Form == profile.YesNo:
			flags = append(flags, &cli.BoolFlag{Name: name, Usage: s.Meaning})
		default:
			flags = append(flags, &cli.StringFlag{Name: name, Usage: s.Usage()})
		}
	}
	return flags
}

var profileColumns = []output.Column{
	{Name: "Profile", Type: record.Text},
	{Name: "Used", Type: record.Bool},
	{Name: "URL", Type: record.Text},
	{Name: "User", Type: record.Text},
	{Name: "SignedIn", Type: record.Text},
	{Name: "Colour", Type: record.Text},
	{Name: "ReadOnly", Type: record.Bool},
	{Name: "Protected", Type: record.Bool},
}

// listProfiles runs whctl profile list.
func listProfiles(c *cli.Context, s *command.Session) error {
	in, err := settingsOfAny(c, s)
	if err != nil {
		return err
	}
	logins, err := s.Vault.ReadLogins()
	if err != nil {
		return err
	}
	var lines [][]any
	for _, name := range in.File.Profiles() {
		text := func(setting string) string {
			if e := in.File.Lookup(name, setting); e != nil {
				return e.Text
			}
			return ""
		}
		store := ""
		if login := logins.All[name]; login != nil {
			store = login.Store
		}
		lines = append(lines, []any{
			name,
			name == in.Profile,
			command.NilIfZero(text("url")),
			command.NilIfZero(text("user")),
			command.NilIfZero(store),
			command.NilIfZero(text("colour")),
			text("read_only") == "true",
			text("protected") == "true",
		})
	}
	_, err = s.Printer(c).Lines(profileColumns, lines)
	return err
}

// settingsOfAny returns the settings for a command that works without a valid current
// profile, and prints a notice if it does not exist.
func settingsOfAny(c *cli.Context, s *command.Session) (*profile.Settings, error) {
	in, err := s.Resolve(c, profile.MayBeMissing)
	if err == nil && in.Missing != nil {
		s.Notice(c, "%s", in.Missing)
	}
	return in, err
}

// saveChanged saves the result of a change of the configuration, or returns the error of the change.
func saveChanged(file *profile.File, err error) error {
	if err != nil {
		return err
	}
	return file.Save()
}

// useProfile runs whctl profile use.
func useProfile(c *cli.Context, s *command.Session) error {
	name := c.Args().First()
	file, err := profile.ReadWith(s.Env, name)
	if err != nil {
		return err
	}
	if err := saveChanged(file.Use(name)); err != nil {
		return err
	}
	s.Notice(c, "profile %s is now the default", name)
	return nil
}

// createProfile runs whctl profile create. The first profile becomes the
// default.
func createProfile(c *cli.Context, s *command.Session) error {
	name := c.Args().First()
	if err := profile.CheckName(name); err != nil {
		return err
	}
	file, err := profile.Read(s.Env)
	if err != nil {
		return err
	}
	if file.Has(name) {
		return cmdline.Usagef("profile %q already exists; "+
			"change it with whctl config update --profile %s", name, name)
	}
	if !c.IsSet("url") {
		return cmdline.Usagef("profile create needs --url, the address of the service")
	}
	isFirst := len(file.Profiles()) == 0
	file, err = setFromFlags(c, file, name)
	if err != nil {
		return err
	}
	if isFirst {
		file, err = file.Use(name)
		if err != nil {
			return err
		}
	}
	if err := file.Save(); err != nil {
		return err
	}
	s.Notice(c, "profile %s created in %s", name, file.Path)
	return nil
}

// setFromFlags sets the settings of a profile from flags.
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
		changed, err := file.Set(name, s, text)
		if err != nil {
			return nil, err
		}
		file = changed
	}
	return file, nil
}

// deleteProfile runs whctl profile delete. It deletes the login first: if that fails, the profile is
// still there, and the command can be repeated.
func deleteProfile(c *cli.Context, s *command.Session) error {
	name := c.Args().First()
	file, err := profile.ReadWith(s.Env, name)
	if err != nil {
		return err
	}
	changed, err := file.Without(name)
	if err != nil {
		return err
	}
	if err := forgetLogin(c, s, name); err != nil {
		return fmt.Errorf("cannot delete the stored login: %w", err)
	}
	if err := changed.Save(); err != nil {
		return fmt.Errorf("cannot delete the profile, which no longer has a stored login: %w", err)
	}
	if err := file.Settings(name).Kinds().Remove(); err != nil {
		return fmt.Errorf("profile %s deleted, but not its list of record kinds: %w", name, err)
	}
	s.Notice(c, "profile %s deleted", name)
	return nil
}

// forgetLogin deletes the login of a profile, if there is one. A secret that stays in the keyring is
// only a notice, because it is not used again.
func forgetLogin(c *cli.Context, s *command.Session, profileName string) error {
	logins, err := s.Vault.ReadLogins()
	if err != nil {
		return err
	}
	login := logins.All[profileName]
	if login == nil {
		return nil
	}
	leftover, err := s.Vault.Forget(login)
	if err != nil {
		return err
	}
	if leftover != nil {
		s.Notice(c, "%s", leftover)
	}
	return nil
}

var valueColumns = []output.Column{
	{Name: "Setting", Type: record.Text},
	{Name: "Value", Type: record.Text},
}

// showProfile runs whctl profile show.
func showProfile(c *cli.Context, s *command.Session) error {
	in, err := s.Resolve(c, profile.MayBeMissing)
	if err != nil {
		return err
	}
	name := cmp.Or(c.Args().First(), in.Profile)
	if name == "" && in.Missing != nil {
		return in.Missing
	}
	if name == "" {
		return cmdline.Usagef("no default profile; name one of whctl profile list")
	}
	file, err := profile.ReadWith(s.Env, name)
	if err != nil {
		return err
	}
	lines := [][]any{{"profile", name}}
	for _, setting := range profile.Table {
		entry := file.Lookup(name, setting.Name)
		if setting.OfProfiles && entry != nil {
			lines = append(lines, []any{setting.Name, entry.Text})
		}
	}
	_, err = s.Printer(c).Lines(valueColumns, lines)
	return err
}
