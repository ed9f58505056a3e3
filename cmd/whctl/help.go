package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// topic is a page of help that belongs to no single command.
type topic struct {
	name    string
	summary string
	print   func(io.Writer)
}

// topics is the only list of them.
func topics() []topic {
	return []topic{
		{"filters", "the conditions of --where", helpFilters},
		{"formats", "the formats of output", helpFormats},
		{"exit-codes", "what the exit code means", helpExits},
		{"environment", "the variables that are read", helpEnvironment},
		{"auth", "who asks, and where secrets are", helpAuth},
		{"powershell", "quoting and files on Windows", helpPowerShell},
	}
}

func (p *program) helpCommands() []*cli.Command {
	return []*cli.Command{
		{Name: "version", Usage: "show the version", Action: p.version},
		{Name: "help", ArgsUsage: "[COMMAND|TOPIC...]", Usage: "show help for a command or a topic", Action: p.help},
	}
}

// help is whctl help, and whctl alone.
func (p *program) help(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 0 {
		return p.helpProgram(c.App)
	}
	if command := cmdline.FindCommand(c.App.Commands, words); command != nil {
		return cmdline.HelpCommand(c.App, words, command, "whctl help shows the flags of every command.")
	}
	var known []string
	for _, t := range topics() {
		if t.name == words[0] && len(words) == 1 {
			t.print(p.stdout)
			return nil
		}
		known = append(known, t.name)
	}
	for _, command := range c.App.Commands {
		known = append(known, command.Name)
	}
	name := strings.Join(words, " ")
	return cmdline.Usagef("no help on %q%s", name, cmdline.DidYouMean(record.Suggest(name, known)))
}

// helpProgram is the page of the program as a whole.
func (p *program) helpProgram(app *cli.App) error {
	page := cmdline.NewPage(p.stdout)
	page.Line("%s: %s", app.Name, app.Usage)
	page.Line("\nUsage: %s COMMAND [flags]; flags may stand anywhere", app.Name)
	page.Commands("Commands", app.Commands)
	page.Line("\nTopics (%s help TOPIC):", app.Name)
	for _, t := range topics() {
		page.Entry(t.name, t.summary)
	}
	page.Flags("Flags of every command", app.Flags)
	return page.Flush()
}
