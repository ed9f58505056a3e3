package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
)

// HelpCommand prints the help of a command or of a group of commands: usage,
// examples, flags and the footer.
func HelpCommand(app *cli.App, path []string, c *cli.Command, footer string) error {
	page := NewPage(app.Writer)
	name := CommandName(app, path)
	page.Line("%s: %s", name, c.Usage)
	if len(c.Subcommands) > 0 {
		page.Line("\nUsage: %s COMMAND [flags]", name)
		page.Commands("Commands", c.Subcommands)
		page.familiar(FamiliarCommands(c.Subcommands))
		page.Line("\n%s help %s COMMAND shows the flags of a command.",
			app.Name, strings.TrimPrefix(name, app.Name+" "))
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
	page.familiar(FamiliarFlags(FlagTable{}.Add(c.Flags)))
	page.Line("\n%s", footer)
	return page.Flush()
}

// CommandName returns the program and the canonical names of the commands at a
// path that FindCommand finds.
func CommandName(app *cli.App, path []string) string {
	name := app.Name
	for i := range path {
		name += " " + FindCommand(app.Commands, path[:i+1]).Name
	}
	return name
}

// Page is a page of help with aligned entries.
type Page struct{ *tabwriter.Writer }

// NewPage returns an empty page. Flush writes it to w.
func NewPage(w io.Writer) Page { return Page{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// Line formats a line of text.
func (p Page) Line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// Entry prints a name and its meaning.
func (p Page) Entry(name, text string) { fmt.Fprintf(p, "  %s\t%s\n", name, text) }

// Commands lists the commands that are not hidden, with their arguments.
func (p Page) Commands(title string, commands []*cli.Command) {
	p.Line("\n%s:", title)
	for _, c := range commands {
		if !c.Hidden {
			p.Entry(strings.TrimSpace(c.Name+" "+c.ArgsUsage), c.Usage)
		}
	}
}

// Flags lists flags with the names of their values and their defaults.
func (p Page) Flags(title string, flags []cli.Flag) {
	if len(flags) == 0 {
		return
	}
	p.Line("\n%s:", title)
	for _, f := range flags {
		if Visible(f) {
			p.Entry(FlagHelp(f))
		}
	}
}

// familiar lists words of other programs with the names here.
func (p Page) familiar(words []FamiliarWord) {
	if len(words) == 0 {
		return
	}
	p.Line("\nWords of other programs that are also understood:")
	for i, w := range words {
		isFirst := i == 0 || words[i-1].Own != w.Own
		if !isFirst {
			continue
		}
		var same []string
		for _, next := range words[i:] {
			if next.Own != w.Own {
				break
			}
			same = append(same, next.Word)
		}
		p.Entry(w.Own, strings.Join(same, ", "))
	}
}

// FamiliarTopic prints all words of other programs that a program understands.
func FamiliarTopic(app *cli.App) func(Page) {
	return func(page Page) {
		page.Line("%s also understands words of gh, kubectl, psql and other programs where they have one", app.Name)
		page.Line("meaning, such as %s get messages for %s messages list. Other words lead to an", app.Name, app.Name)
		page.Line("error that suggests the right word.")
		page.familiar(familiarWords(app))
	}
}

// Visible reports whether help lists a flag.
func Visible(f cli.Flag) bool {
	visible, ok := f.(cli.VisibleFlag)
	return !ok || visible.IsVisible()
}

// FlagHelp returns the spelling of a flag, with its value and short names, and its
// usage with the default. Long aliases, which are former names, are left out.
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
		if len(short) == 1 {
			names += ", -" + short
		}
	}
	if value := documented.GetDefaultText(); value != "" && value != "0" && documented.TakesValue() {
		usage += " (default " + strings.Trim(value, `"`) + ")"
	}
	return names, usage
}

// placeholder is a flag that names its value itself, not in its usage.
type placeholder interface{ Placeholder() string }

// UnquoteUsage returns the name of a flag's value, which is in back quotes in the
// usage, and the usage without the quotes. The name is VALUE if there are none. A name
// at the start with two spaces after it is not part of the text.
func UnquoteUsage(usage string) (name, text string) {
	before, quoted, ok := strings.Cut(usage, "`")
	name, after, closed := strings.Cut(quoted, "`")
	if !ok || !closed {
		return "VALUE", usage
	}
	if text, ok := strings.CutPrefix(after, "  "); ok && before == "" {
		return name, text
	}
	return name, before + name + after
}
