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
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

func (p *program) configCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "config", Usage: "see and change the configuration",
		Subcommands: []*cli.Command{
			{Name: "path", Usage: "print where the configuration is", Action: p.printConfigPath},
			{Name: "get", ArgsUsage: "SETTING", Usage: "print the value that is in force", Action: p.getConfig},
			{
				Name: "set", ArgsUsage: "SETTING VALUE", Usage: "change a setting, of the profile in use or of --profile", Action: p.setConfig,
				Description: `whctl config set format json
whctl config set read_only true --profile prod`,
			},
			{Name: "edit", Usage: "open the configuration in an editor", Action: p.editConfig},
			{
				Name: "show", Usage: "show all settings", Action: p.showConfig,
				Flags: append(output.Flags(), &cli.BoolFlag{Name: "origin", Usage: "show also where each value comes from"}),
			},
		},
	}}
}

func (p *program) printConfigPath(*cli.Context) error {
	path := profile.Path(p.env)
	if path == "" {
		return profile.ErrNoPlace
	}
	_, err := fmt.Fprintln(p.stdout, path)
	return err
}

func (p *program) getConfig(c *cli.Context) error {
	name := c.Args().First()
	if _, known := profile.Named(name); !known {
		return profile.Unknown(name)
	}
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, display.Sanitize(s.Text(name)))
	return err
}

// setConfig is whctl config set.
func (p *program) setConfig(c *cli.Context) error {
	name, text := c.Args().Get(0), c.Args().Get(1)
	one, known := profile.Named(name)
	if !known {
		return profile.Unknown(name)
	}
	if err := one.Form.Check(text); err != nil {
		return cmdline.Usagef("%s %s", name, err)
	}
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	if name == "profile" && !s.File.Has(text) {
		_, err := p.knownProfile(text)
		return err
	}
	profile := s.Section(one)
	if one.OfProfiles && profile == "" {
		return cmdline.Usagef("%s belongs to a profile, and none is used: --profile names one, whctl profile add makes one", name)
	}
	file, err := s.File.Set(profile, one, text)
	if err != nil {
		return err
	}
	if err := file.Save(); err != nil {
		return err
	}
	p.notice(c, "%s = %s%s in %s", name, text, inProfile(profile), file.Path)
	return nil
}

func inProfile(profile string) string {
	if profile == "" {
		return ""
	}
	return " of profile " + profile
}

var (
	settingColumns = []output.Column{{Name: "Setting", Type: record.Text}, {Name: "Value", Type: record.Text}, {Name: "Meaning", Type: record.Text}}
	originColumns  = []output.Column{{Name: "Setting", Type: record.Text}, {Name: "Value", Type: record.Text}, {Name: "Origin", Type: record.Text}}
)

func (p *program) showConfig(c *cli.Context) error {
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	columns := settingColumns
	if c.Bool("origin") {
		columns = originColumns
	}
	var lines [][]any
	for _, one := range profile.Table {
		value := s.Values[one.Name]
		last := one.Meaning
		if c.Bool("origin") {
			last = value.Origin
		}
		lines = append(lines, []any{one.Name, nilIfEmpty(value.Text), last})
	}
	_, err = p.printer(c).Lines(columns, lines)
	return err
}

// editConfig lets an editor change a copy, which takes the place of the
// configuration once it can be read.
func (p *program) editConfig(c *cli.Context) error {
	path := profile.Path(p.env)
	if path == "" {
		return profile.ErrNoPlace
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
	if err := p.runEditor(c, draft); err != nil {
		return err
	}
	changed, err := os.ReadFile(draft)
	if err != nil {
		return err
	}
	if _, err := profile.Parse(draft, changed); err != nil {
		return cmdline.Usagef("nothing was changed: %s", err)
	}
	if err := output.ReplaceFile(path, changed, output.PrivateFile); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// runEditor runs the editor that the user has chosen.
func (p *program) runEditor(c *cli.Context, path string) error {
	editor := p.env("VISUAL")
	if editor == "" {
		editor = p.env("EDITOR")
	}
	words := strings.Fields(editor)
	if len(words) == 0 {
		words = []string{"vi"}
		if runtime.GOOS == "windows" {
			words = []string{"notepad"}
		}
	}
	command := exec.CommandContext(c.Context, words[0], append(words[1:], path)...)
	command.Stdin, command.Stdout, command.Stderr = p.stdin, p.stdout, p.stderr
	if !p.terminal.Is {
		command.Stdout = p.stderr // standard output is for data
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("nothing was changed: the editor %s (EDITOR) failed: %w", words[0], err)
	}
	return nil
}
