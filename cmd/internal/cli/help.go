package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
)

// HelpCommand prints the page of one command, or of a group of them, examples
// first and the last line last.
func HelpCommand(app *cli.App, path []string, c *cli.Command, last string) error {
	page := NewPage(app.Writer)
	name := app.Name + " " + strings.Join(append(path[:len(path)-1:len(path)-1], c.Name), " ")
	page.Line("%s: %s", name, c.Usage)
	if len(c.Subcommands) > 0 {
		page.Line("\nUsage: %s COMMAND [flags]", name)
		page.Commands("Commands", c.Subcommands)
		return page.Flush()
	}
	page.Line("\nUsage: %s [flags]", strings.TrimSpace(name+" "+c.ArgsUsage))
	if c.Description != "" {
		page.Line("\nExamples:")
		for text := range strings.Lines(c.Description) {
			page.Line("  %s", strings.TrimSpace(text))
		}
	}
	page.Flags("Flags", c.Flags)
	page.Line("\n%s", last)
	return page.Flush()
}

// Page is a page of help with aligned entries.
type Page struct{ *tabwriter.Writer }

// NewPage begins a page.
func NewPage(w io.Writer) Page { return Page{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// Line formats a line of text.
func (p Page) Line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// Entry prints a line of a list.
func (p Page) Entry(name, text string) { fmt.Fprintf(p, "  %s\t%s\n", name, text) }

// Commands lists commands with their arguments.
func (p Page) Commands(title string, commands []*cli.Command) {
	p.Line("\n%s:", title)
	for _, c := range commands {
		if !c.Hidden {
			p.Entry(strings.TrimSpace(c.Name+" "+c.ArgsUsage), c.Usage)
		}
	}
}

// Flags lists flags with the name of their value and their default.
func (p Page) Flags(title string, flags []cli.Flag) {
	if len(flags) == 0 {
		return
	}
	p.Line("\n%s:", title)
	for _, f := range flags {
		p.Entry(FlagHelp(f))
	}
}

// FlagHelp is how a flag is written, and what it does, with its default.
func FlagHelp(f cli.Flag) (names, usage string) {
	documented, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "--" + f.Names()[0], ""
	}
	value, usage := UnquoteUsage(documented.GetUsage())
	if named, ok := f.(placeholder); ok {
		value = named.Placeholder()
	}
	names = "--" + f.Names()[0]
	if documented.TakesValue() {
		names += " " + value
	}
	for _, short := range f.Names()[1:] {
		names += ", -" + short
	}
	if value := documented.GetDefaultText(); value != "" && value != "0" && documented.TakesValue() {
		usage += " (default " + strings.Trim(value, `"`) + ")"
	}
	return names, usage
}

// placeholder is a flag whose usage does not say what its value is called.
type placeholder interface{ Placeholder() string }

// UnquoteUsage takes the name of the value out of a usage text, where it
// is in back quotes.
func UnquoteUsage(usage string) (name, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	name, after, closed := strings.Cut(rest, "`")
	if !ok || !closed {
		return "VALUE", usage
	}
	return name, before + name + after
}
