package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
		return p.helpCommand(c.App, words, command)
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
	return cmdline.Usagef("no help on %q%s", name, cmdline.DidYouMean(record.Near(name, known)))
}

// helpProgram is the page of the program as a whole.
func (p *program) helpProgram(app *cli.App) error {
	page := newPage(p.stdout)
	page.line("%s: %s", app.Name, app.Usage)
	page.line("\nUsage: %s COMMAND [flags]; flags may stand anywhere", app.Name)
	page.commands("Commands", app.Commands)
	page.line("\nTopics (%s help TOPIC):", app.Name)
	for _, t := range topics() {
		page.entry(t.name, t.summary)
	}
	page.flags("Flags of every command", app.Flags)
	return page.Flush()
}

// helpCommand is the page of one command, or of a group of them, examples
// first.
func (p *program) helpCommand(app *cli.App, path []string, c *cli.Command) error {
	page := newPage(p.stdout)
	name := app.Name + " " + strings.Join(append(path[:len(path)-1:len(path)-1], c.Name), " ")
	page.line("%s: %s", name, c.Usage)
	if len(c.Subcommands) > 0 {
		page.line("\nUsage: %s COMMAND [flags]", name)
		page.commands("Commands", c.Subcommands)
		return page.Flush()
	}
	page.line("\nUsage: %s [flags]", strings.TrimSpace(name+" "+c.ArgsUsage))
	if c.Description != "" {
		page.line("\nExamples:")
		for text := range strings.Lines(c.Description) {
			page.line("  %s", strings.TrimSpace(text))
		}
	}
	page.flags("Flags", c.Flags)
	page.line("\n%s help shows the flags of every command.", app.Name)
	return page.Flush()
}

// page is a page of help with aligned entries.
type page struct{ *tabwriter.Writer }

func newPage(w io.Writer) page { return page{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (p page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p page) entry(name, text string) { fmt.Fprintf(p, "  %s\t%s\n", name, text) }

// commands lists commands with their arguments.
func (p page) commands(title string, commands []*cli.Command) {
	p.line("\n%s:", title)
	for _, c := range commands {
		if !c.Hidden {
			p.entry(strings.TrimSpace(c.Name+" "+c.ArgsUsage), c.Usage)
		}
	}
}

// flags lists flags with the name of their value and their default.
func (p page) flags(title string, flags []cli.Flag) {
	if len(flags) == 0 {
		return
	}
	p.line("\n%s:", title)
	for _, f := range flags {
		p.entry(flagHelp(f))
	}
}

// flagHelp is how a flag is written, and what it does, with its default.
func flagHelp(f cli.Flag) (names, usage string) {
	documented, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "--" + f.Names()[0], ""
	}
	placeholder, usage := unquoteUsage(documented.GetUsage())
	names = "--" + f.Names()[0]
	if documented.TakesValue() {
		names += " " + placeholder
	}
	for _, short := range f.Names()[1:] {
		names += ", -" + short
	}
	if value := documented.GetDefaultText(); value != "" && value != "0" && documented.TakesValue() {
		usage += " (default " + strings.Trim(value, `"`) + ")"
	}
	return names, usage
}

// unquoteUsage takes the name of the value out of a usage text, where it
// stands in back quotes.
func unquoteUsage(usage string) (name, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	name, after, closed := strings.Cut(rest, "`")
	if !ok || !closed {
		return "VALUE", usage
	}
	return name, before + name + after
}
