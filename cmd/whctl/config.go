package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

func configCommands() []*cli.Command {
	return []*cli.Command{{
		Name:  "config",
		Usage: "show and change the configuration",
		Subcommands: []*cli.Command{
			{
				Name:      "show",
				Aliases:   []string{"get"},
				ArgsUsage: "[SETTING]",
				Usage:     "show all settings, or print the value of one",
				Action:    command.With(showConfig),
				Flags: append(output.Flags(), &cli.BoolFlag{
					Name:  "origin",
					Usage: "show the source of each value",
				}),
				Description: `whctl config show --origin
whctl config show url --profile prod`,
			},
			{
				Name:      "update",
				Aliases:   []string{"set"},
				ArgsUsage: "SETTING VALUE",
				Usage:     "change a setting of the current profile, or of --profile",
				Action:    command.With(updateConfig),
				Description: `whctl config update format json
whctl config update read_only true --profile prod`,
			},
			{
				Name:   "edit",
				Usage:  "open the configuration file in an editor",
				Action: command.With(editConfig),
			},
			{
				Name:   "path",
				Usage:  "print the path of the configuration file",
				Action: command.With(printConfigPath),
			},
		},
	}}
}

// printConfigPath runs whctl config path.
func printConfigPath(_ *cli.Context, s *command.Session) error {
	path := profile.Path(s.Env)
	if path == "" {
		return profile.ErrNoConfigDir
	}
	_, err := fmt.Fprintln(s.Stdout, path)
	return err
}

// printSetting prints the value of a setting, without a header.
func printSetting(c *cli.Context, s *command.Session, name string) error {
	if _, ok := profile.LookupSetting(name); !ok {
		return profile.UnknownSettingError(name)
	}
	in, err := settingsOfAny(c, s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.Stdout, display.Sanitize(in.Text(name)))
	return err
}

// updateConfig runs whctl config update.
func updateConfig(c *cli.Context, s *command.Session) error {
	name := c.Args().Get(0)
	text := c.Args().Get(1)
	setting, ok := profile.LookupSetting(name)
	if !ok {
		return profile.UnknownSettingError(name)
	}
	if err := setting.Form.Check(text); err != nil {
		return cmdline.Usagef("%s %s", name, err)
	}
	in, err := s.Resolve(c, profile.MayBeMissing)
	if err != nil {
		return err
	}
	if setting.OfProfiles && in.Missing != nil {
		return in.Missing
	}
	if name == "profile" {
		if _, err := profile.ReadWith(s.Env, text); err != nil {
			return err
		}
	}
	section := in.Section(setting)
	if setting.OfProfiles && section == "" {
		return cmdline.Usagef("%s is set for each profile, and there is no current profile; "+
			"use --profile, or create a profile with whctl profile create", name)
	}
	if err := saveChanged(in.File.Set(section, setting, text)); err != nil {
		return err
	}
	owner := ""
	if section != "" {
		owner = " for profile " + section
	}
	s.Notice(c, "set %s to %s%s in %s", name, text, owner, in.File.Path)
	return nil
}

var (
	settingColumns = []output.Column{
		{Name: "Setting", Type: record.Text},
		{Name: "Value", Type: record.Text},
		{Name: "Meaning", Type: record.Text},
	}
	originColumns = []output.Column{
		{Name: "Setting", Type: record.Text},
		{Name: "Value", Type: record.Text},
		{Name: "Origin", Type: record.Text},
	}
)

// showConfig runs whctl config show. A single setting is printed as a bare
// value, or as a row if a flag of the output is set.
func showConfig(c *cli.Context, s *command.Session) error {
	name := c.Args().First()
	if name != "" && !c.Bool("origin") && !command.AnySet(c, output.Flags()) {
		return printSetting(c, s, name)
	}
	_, isKnown := profile.LookupSetting(name)
	if name != "" && !isKnown {
		return profile.UnknownSettingError(name)
	}
	in, err := settingsOfAny(c, s)
	if err != nil {
		return err
	}
	columns := settingColumns
	if c.Bool("origin") {
		columns = originColumns
	}
	var lines [][]any
	for _, setting := range profile.Table {
		if name != "" && name != setting.Name {
			continue
		}
		value := in.Values[setting.Name]
		last := setting.Meaning
		if c.Bool("origin") {
			last = value.Origin
		}
		lines = append(lines, []any{setting.Name, command.NilIfZero(value.Text), last})
	}
	_, err = s.Printer(c).Lines(columns, lines)
	return err
}

// editConfig opens a copy of the configuration in an editor and replaces the
// configuration if the copy is valid. Otherwise it keeps the copy and names it in the
// error.
func editConfig(c *cli.Context, s *command.Session) error {
	path := profile.Path(s.Env)
	if path == "" {
		return profile.ErrNoConfigDir
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, err := os.MkdirTemp("", "whctl")
	if err != nil {
		return err
	}
	draft := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(draft, text, output.PrivateFile); err != nil {
		return err
	}
	if err := runEditor(c, s, draft); err != nil {
		return err
	}
	changed, err := os.ReadFile(draft)
	if err != nil {
		return err
	}
	if _, err := profile.Parse(draft, changed); err != nil {
		return cmdline.Usagef("the configuration was not changed: %s", err)
	}
	if err := output.ReplaceFile(path, changed, output.PrivateFile); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// editor returns the command line of the editor: that of VISUAL or EDITOR, else vi or
// notepad. The origin of the command line is for errors.
func editor(env func(string) string) (line []string, origin string) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		words := editorWords(env(name))
		if len(words) > 0 {
			return words, "from " + name
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}, "VISUAL and EDITOR are not set"
	}
	return []string{"vi"}, "VISUAL and EDITOR are not set"
}

// editorWords splits the command line of an editor at blanks. Blanks within quotes, and
// those in the path of an existing program, are part of a word.
func editorWords(line string) (words []string) {
	line = strings.TrimSpace(line)
	if _, err := os.Stat(line); err == nil {
		return []string{line}
	}
	for line != "" {
		var word string
		first := line[:1]
		if first == `"` || first == "'" {
			word, line, _ = strings.Cut(line[1:], first)
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		words = append(words, word)
		line = strings.TrimSpace(line)
	}
	return words
}

// runEditor opens a file in the editor.
func runEditor(c *cli.Context, s *command.Session, path string) error {
	words, origin := editor(s.Env)
	command := exec.CommandContext(c.Context, words[0], append(words[1:], path)...)
	command.Stdin = s.Stdin
	command.Stdout = s.Stdout
	command.Stderr = s.Stderr
	if !s.Terminal.IsTerminal {
		command.Stdout = s.Stderr // standard output is for data
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("the configuration was not changed: editor %s (%s) failed: %w; the copy is %s",
			words[0], origin, err, path)
	}
	return nil
}
