package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/complete"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// topic is a page of help that belongs to no single command.
type topic struct {
	name    string
	summary string
	print   func(cmdline.Page)
}

func (t topic) write(to io.Writer) {
	page := cmdline.NewPage(to)
	t.print(page)
	_ = page.Flush() // help to a closed pipe has no reader to tell
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

func topicCandidates() []complete.Candidate {
	var all []complete.Candidate
	for _, t := range topics() {
		all = append(all, complete.Candidate{Value: t.name, Meaning: t.summary})
	}
	return all
}

// helpCommands are those about the program itself.
func helpCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "completion", ArgsUsage: "SHELL", Usage: "print the script by which bash, zsh, fish or powershell completes our commands",
			Action: func(c *cli.Context) error { return complete.PrintScript(c.App.Writer, c.Args().First()) },
			Description: `eval "$(whctl completion bash)"
whctl completion zsh >"${fpath[1]}/_whctl"
whctl completion fish >~/.config/fish/completions/whctl.fish
whctl completion powershell | Out-String | Invoke-Expression`,
		},
		{Name: "man", Usage: "print the manual page", Action: man, Description: "whctl man >whctl.1"},
		{Name: "version", Usage: "show the version", Action: printVersion},
		{Name: "help", ArgsUsage: "[COMMAND|TOPIC...]", Usage: "show help for a command or a topic", Action: help},
	}
}

// help is whctl help, and whctl alone.
func help(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 0 {
		return helpProgram(c.App)
	}
	if command := cmdline.FindCommand(c.App.Commands, words); command != nil {
		return cmdline.HelpCommand(c.App, words, command, "whctl help shows the flags of every command.")
	}
	var known []string
	for _, t := range topics() {
		if t.name == words[0] && len(words) == 1 {
			t.write(c.App.Writer)
			return nil
		}
		known = append(known, t.name)
	}
	for _, command := range c.App.Commands {
		known = append(known, command.Name)
	}
	name := strings.Join(words, " ")
	return cmdline.Usagef("no help on %q%s", name, record.DidYouMean(record.Suggest(name, known)))
}

// helpProgram is the page of the program as a whole.
func helpProgram(app *cli.App) error {
	page := cmdline.NewPage(app.Writer)
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

// helpFilters is made of the tables that the parser reads.
func helpFilters(page cmdline.Page) {
	page.Line(`--where "FIELD OPERATOR VALUE", repeated: all must hold. Use double quotes in every shell.`)
	page.Line("\n  operator\tword\tmember of the service\tfields\tmeaning")
	for _, o := range record.Operators() {
		page.Line("  %s\t%s\tFIELD%s=\t%s\t%s", filter.Symbol(o), filter.Word(o), o.Suffix(), familiesOf(o), filter.Meaning(o))
	}
	page.Line(`
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

func helpFormats(page cmdline.Page) {
	page.Line("--format NAME; without it table on a terminal and csv elsewhere.\n")
	for _, f := range output.Formats() {
		page.Entry(f.Name, f.Summary)
	}
	page.Line(`
A table on a terminal has %d rows unless --take or --all is given; every other
output has all rows. Numbers keep the digits that the service sent. In Windows
PowerShell use -o FILE instead of >, which changes the encoding.`, profile.TableRows)
}

func helpExits(page cmdline.Page) {
	for _, e := range exits {
		page.Entry(fmt.Sprint(e.Code), e.Meaning)
	}
}

func helpEnvironment(page cmdline.Page) {
	for _, v := range profile.Variables() {
		page.Entry(v.Name, v.Meaning)
	}
}

func helpAuth(page cmdline.Page) {
	fmt.Fprint(page, `Who asks is decided by the first of these that is there:

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

func helpPowerShell(page cmdline.Page) {
	fmt.Fprint(page, `Put conditions in double quotes: in cmd.exe ' is no quote, so that > would write
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

// printVersion is whctl version. It draws on nothing but the binary.
func printVersion(c *cli.Context) error { return cmdline.PrintVersion(c.App.Writer, "whctl") }
