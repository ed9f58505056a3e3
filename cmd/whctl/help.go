package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
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
	}
}

// help is whctl help, and whctl alone.
func (p *program) help(c *cli.Context) error {
	if c.Args().Len() > 1 {
		return &usageError{message: fmt.Sprintf("help takes one command or topic, not %d", c.Args().Len())}
	}
	name := c.Args().First()
	if name == "" {
		return p.helpProgram(c.App)
	}
	var known []string
	for _, command := range c.App.Commands {
		if command.HasName(name) {
			return p.helpCommand(c.App, command)
		}
		known = append(known, command.Name)
	}
	for _, t := range topics() {
		if t.name == name {
			t.print(p.stdout)
			return nil
		}
		known = append(known, t.name)
	}
	return &usageError{message: fmt.Sprintf("no help on %q%s", name, didYouMean(record.Near(name, known)))}
}

// helpProgram is the page of the program as a whole.
func (p *program) helpProgram(app *cli.App) error {
	page := newPage(p.stdout)
	page.line("%s: %s", app.Name, app.Usage)
	page.line("\nUsage: %s COMMAND [flags]; flags may stand anywhere", app.Name)
	page.line("\nCommands:")
	for _, c := range app.Commands {
		page.entry(strings.TrimSpace(c.Name+" "+c.ArgsUsage), c.Usage)
	}
	page.line("\nTopics (%s help TOPIC):", app.Name)
	for _, t := range topics() {
		page.entry(t.name, t.summary)
	}
	page.flags("Flags", app.Flags)
	return page.Flush()
}

// helpCommand is the page of one command, examples first.
func (p *program) helpCommand(app *cli.App, c *cli.Command) error {
	page := newPage(p.stdout)
	page.line("%s %s: %s", app.Name, c.Name, c.Usage)
	page.line("\nUsage: %s [flags]", strings.TrimSpace(app.Name+" "+c.Name+" "+c.ArgsUsage))
	if c.Description != "" {
		page.line("\nExamples:")
		for text := range strings.Lines(c.Description) {
			page.line("  %s", strings.TrimSpace(text))
		}
	}
	page.flags("Flags", c.Flags)
	page.flags("Flags of every command", app.Flags)
	return page.Flush()
}

// page is a page of help with aligned entries.
type page struct{ *tabwriter.Writer }

func newPage(w io.Writer) page { return page{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (p page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p page) entry(name, text string) { fmt.Fprintf(p, "  %s\t%s\n", name, text) }

// flags lists flags with the name of their value and their default.
func (p page) flags(title string, flags []cli.Flag) {
	if len(flags) == 0 {
		return
	}
	p.line("\n%s:", title)
	for _, f := range flags {
		documented, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		placeholder, usage := unquoteUsage(documented.GetUsage())
		text := "--" + f.Names()[0]
		if documented.TakesValue() {
			text += " " + placeholder
		}
		for _, short := range f.Names()[1:] {
			text += ", -" + short
		}
		if value := documented.GetDefaultText(); value != "" && value != "0" && documented.TakesValue() {
			usage += " (default " + strings.Trim(value, `"`) + ")"
		}
		p.entry(text, usage)
	}
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

// helpFilters is made of the tables that the parser reads.
func helpFilters(w io.Writer) {
	page := newPage(w)
	page.line(`--where "FIELD OPERATOR VALUE", repeated: all must hold. Use double quotes in every shell.`)
	page.line("\n  operator\tword\tmember of the service\tfields\tmeaning")
	for _, o := range record.Operators() {
		s := spellings[o]
		page.line("  %s\t%s\tFIELD%s=\t%s\t%s", s.symbol, s.word, o.Suffix(), familiesOf(o), s.meaning)
	}
	page.line(`
Values that hold a comma, ".." or blanks at an end stand in double quotes; a
quote inside is doubled. Dates may be today, yesterday or -7d.

  whctl query SO_Totals --where "InvoiceTotal>=1000" --where "InvoiceID^=D1"
  whctl query SO_Totals --where "InvoiceTotal in 10..20"
  whctl query SO_Totals --where "InvoiceID in D1,D2"
  whctl query SO_Totals --where "InvoiceTotalGreaterThan=1000"

whctl records RECORD lists the operators of each field.`)
	_ = page.Flush() // help to a closed pipe has no reader to tell
}

// familiesOf says which fields take an operator.
func familiesOf(o record.Operator) string {
	var list []string
	for _, f := range []struct {
		family record.Family
		name   string
	}{{record.S, "text"}, {record.N, "numbers, dates"}, {record.E, "bool, byte[]"}, {record.G, "guid"}} {
		if f.family.Takes(o) {
			list = append(list, f.name)
		}
	}
	if len(list) == 4 {
		return "all"
	}
	return strings.Join(list, ", ")
}

func helpFormats(w io.Writer) {
	page := newPage(w)
	page.line("--format NAME; without it table on a terminal and csv elsewhere.\n")
	for _, f := range formats() {
		page.entry(f.name, f.summary)
	}
	page.line(`
A table on a terminal has %d rows unless --take or --all is given; every other
output has all rows. Numbers keep the digits that the service sent. In Windows
PowerShell use -o FILE instead of >, which changes the encoding.`, screenful)
	_ = page.Flush() // help to a closed pipe has no reader to tell
}

func helpExits(w io.Writer) {
	page := newPage(w)
	for _, e := range exits {
		page.entry(fmt.Sprint(e.code), e.meaning)
	}
	_ = page.Flush() // help to a closed pipe has no reader to tell
}

func helpEnvironment(w io.Writer) {
	page := newPage(w)
	for _, v := range variables {
		page.entry(v.name, v.meaning)
	}
	_ = page.Flush() // help to a closed pipe has no reader to tell
}
