package whd

import (
	"fmt"
	"io"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/internal/cli"
)

// helping is the command help.
type helping struct{ *base }

func (p helping) commands() []*urfave.Command {
	return []*urfave.Command{
		{
			Name:      "completion",
			ArgsUsage: "SHELL",
			Usage:     "print the completion script for bash, zsh, fish or powershell",
			Action: func(c *urfave.Context) error {
				return cli.PrintCompletion(p.Stdout, c.App.Name, c.Args().First())
			},
		},
		{Name: "man", Usage: "print the manual page", Action: p.manual},
		{Name: "help", ArgsUsage: "[COMMAND...]", Usage: "show help for whd or a command", Action: p.help},
	}
}

// manual prints the whole help as a page for man(1).
func (p helping) manual(c *urfave.Context) error {
	return cli.PrintManual(c.App, []cli.Topic{{Name: "exit codes", Print: printExits}})
}

func printExits(w io.Writer) {
	for _, e := range exits {
		fmt.Fprintf(w, "%d  %s\n", e.Code, e.Meaning)
	}
}

// help prints the help of the program or of a command.
func (p helping) help(c *urfave.Context) error {
	words := c.Args().Slice()
	if command := cli.FindCommand(c.App.Commands, words); command != nil {
		return cli.HelpCommand(c.App, words, command,
			"Settings can also be set in a TOML file or in environment variables; see whd config.")
	}
	if len(words) > 0 {
		var names []string
		for _, command := range leaves(c.App.Commands, "") {
			names = append(names, command.Name)
		}
		name := strings.Join(words, " ")
		return cli.Usagef("no help for %q%s", name, record.DidYouMean(record.Suggest(name, names)))
	}
	page := cli.NewPage(p.Stdout)
	page.Line("whd: %s\n\nUsage: whd COMMAND [flags]", c.App.Usage)
	page.Commands("Commands", leaves(c.App.Commands, ""))
	page.Flags("Global flags", c.App.Flags)
	page.Line("\nExit codes:")
	for _, e := range exits {
		page.Entry(fmt.Sprint(e.Code), e.Meaning)
	}
	page.Line("\nwhd help COMMAND shows the flags of a command. Flags can precede or follow the command\n" +
		"and its arguments. To try whd with demo data: whd serve --demo --data-dir ./.whd")
	return page.Flush()
}

// leaves returns the commands that are not groups, by their full names. Hidden
// commands are left out.
func leaves(commands []*urfave.Command, path string) (all []*urfave.Command) {
	for _, c := range commands {
		name := path + c.Name
		if c.Hidden {
			continue
		}
		if len(c.Subcommands) == 0 {
			all = append(all, &urfave.Command{Name: name, ArgsUsage: c.ArgsUsage, Usage: c.Usage})
		}
		all = append(all, leaves(c.Subcommands, name+" ")...)
	}
	return all
}
