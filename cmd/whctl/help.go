package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/where"
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
	if command := findCommand(c.App.Commands, words); command != nil {
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
	return usagef("no help on %q%s", name, didYouMean(record.Near(name, known)))
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
		page.line("  %s\t%s\tFIELD%s=\t%s\t%s", where.Symbol(o), where.Word(o), o.Suffix(), familiesOf(o), where.Meaning(o))
	}
	page.line(`
Values that hold a comma, ".." or blanks at an end stand in double quotes; a
quote inside is doubled. Dates may be today, yesterday or -7d.

  whctl query SO_Totals --where "InvoiceTotal>=1000" --where "InvoiceID^=D1"
  whctl query SO_Totals --where "InvoiceTotal in 10..20"
  whctl query SO_Totals --where "InvoiceID in D1,D2"
  whctl query SO_Totals --where "InvoiceTotalGreaterThan=1000"
  whctl query SO_Totals --where "@conditions.txt"
  whctl query SO_Totals --filter-json "@filter.json"

A file of conditions has one on each line, and lines with # are remarks; @- is
standard input. --filter-json takes the members of the service as a JSON object.

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
	for _, v := range variables() {
		page.entry(v.name, v.meaning)
	}
	_ = page.Flush() // help to a closed pipe has no reader to tell
}

func helpAuth(w io.Writer) {
	fmt.Fprint(w, `Who asks is decided by the first of these that is there:

  1. an API key: --token-file FILE, WHCTL_TOKEN
  2. a password: --password-stdin, --password-file FILE, WHCTL_PASSWORD,
     of the user that --user, WHCTL_USER or the profile names
  3. what whctl login has stored for the profile, for the same address and user

  whctl login --profile prod --url https://erp01:5050 --user jsmith
  whctl login --password-file secret.txt --remember
  whctl whoami
  whctl logout

whctl login takes the password from the same places, then from the login that
is stored, then asks for it on a terminal. It stores the session in the system's
keyring; with --remember the password too, so that a session that is over is
renewed without a question. Where there is no keyring, as for services, on Linux
without a desktop and over SSH on Windows, --insecure-storage stores them in
logins.toml beside the configuration, which only you can read. Scripts are best
off with an API key.

No flag takes a secret itself, since everyone on a machine can read its command
lines.
`)
}

func helpPowerShell(w io.Writer) {
	fmt.Fprint(w, `Put conditions in double quotes: in cmd.exe ' is no quote, so that > would write
to a file, and PowerShell takes $ inside double quotes for a variable.

  whctl query SO_Totals --where "InvoiceTotal>=1000"
  whctl query SO_Totals --where "InvoiceTotal ge 1000"
  whctl query SO_Totals --where "@conditions.txt"

Windows PowerShell 5.1 changes the encoding of what goes through > and |, and
takes double quotes inside of arguments away. Use -o FILE, and files for JSON:

  whctl query SO_Totals --csv --excel -o totals.csv
  whctl query SO_Totals --format xlsx -o totals.xlsx
  whctl query SO_Totals --filter-json "@filter.json"
`)
}
