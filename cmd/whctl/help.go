package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// topic is a help page that is not about a single command.
type topic struct {
	name    string
	summary string
	print   func(cmdline.Page)
}

// write prints the page.
func (t topic) write(to io.Writer) {
	page := cmdline.NewPage(to)
	t.print(page)
	_ = page.Flush() // an error means that the reader is gone
}

// topics returns all topics, in the order of the help.
func topics(app *cli.App) []topic {
	return []topic{
		{"filters", "conditions of --where", helpFilters},
		{"formats", "output formats", helpFormats},
		{"exit-codes", "exit codes", helpExits},
		{"environment", "environment variables", helpEnvironment},
		{"auth", "authentication and storage of secrets", helpAuth},
		{"powershell", "quoting and files on Windows", helpPowerShell},
		{"words", "words of gh, kubectl and psql that whctl understands", cmdline.FamiliarTopic(app)},
	}
}

// helpCommands returns the commands about the program itself.
func helpCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name:      "completion",
			ArgsUsage: "[SHELL]",
			Usage:     "print the completion script for bash, zsh, fish or powershell; default: the shell in SHELL",
			Action:    command.With(printCompletion),
			Description: `eval "$(whctl completion bash)"
whctl completion zsh >"${fpath[1]}/_whctl"
whctl completion fish >~/.config/fish/completions/whctl.fish
whctl completion powershell | Out-String | Invoke-Expression`,
		},
		{Name: "man", Usage: "print the manual page", Action: man, Description: "whctl man >whctl.1"},
		{
			Name:   "version",
			Usage:  "show the version, and the version of the service if it can be reached within a second",
			Action: command.With(printVersion),
			Flags: []cli.Flag{&cli.BoolFlag{
				Name:  cmdline.ProgramOnlyFlag,
				Usage: "without the version of the service",
			}},
		},
		{Name: "help", ArgsUsage: "[COMMAND|TOPIC...]", Usage: "show help for a command or a topic", Action: help},
	}
}

// man runs whctl man.
func man(c *cli.Context) error {
	var sections []cmdline.Topic
	for _, t := range topics(c.App) {
		sections = append(sections, cmdline.Topic{Name: t.name, Print: t.write})
	}
	return cmdline.PrintManual(c.App, sections)
}

// help runs whctl help, and whctl without a command.
func help(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 0 {
		return helpProgram(c.App)
	}
	if path, args := cmdline.CommandAt(c.App, words); len(args) == 0 {
		return cmdline.HelpCommand(c.App, path, cmdline.FindCommand(c.App.Commands, path),
			"whctl help lists the global flags.")
	}
	name := strings.Join(words, " ")
	var names []string
	for _, t := range topics(c.App) {
		if t.name == name {
			t.write(c.App.Writer)
			return nil
		}
		names = append(names, t.name)
	}
	suggested := cmdline.SuggestCommands(c.App.Commands, name)
	return cmdline.Usagef("no help for %q%s", name,
		record.DidYouMean(append(record.Suggest(name, names), suggested...)))
}

// helpProgram prints the help of the program.
func helpProgram(app *cli.App) error {
	page := cmdline.NewPage(app.Writer)
	page.Line("%s: %s", app.Name, app.Usage)
	page.Line("\nUsage: %s COMMAND [flags]", app.Name)
	page.Commands("Commands", app.Commands)
	page.Line("\nTopics (%s help TOPIC):", app.Name)
	for _, t := range topics(app) {
		page.Entry(t.name, t.summary)
	}
	page.Flags("Global flags", app.Flags)
	page.Line("\n%s help COMMAND shows the flags of a command. "+
		"Flags can precede or follow the command\nand its arguments.", app.Name)
	return page.Flush()
}

// helpFilters prints the tables that the parser uses.
func helpFilters(page cmdline.Page) {
	page.Line(`--where "FIELD OPERATOR VALUE", repeatable, combined with AND. Use double quotes in every shell.`)
	page.Line("\n  operator\tword\tquery parameter\tfields\tmeaning")
	for _, o := range record.Operators() {
		page.Line("  %s\t%s\tFIELD%s=\t%s\t%s",
			filter.Symbol(o), filter.Word(o), o.Suffix(), familiesOf(o), filter.Meaning(o))
	}
	page.Line(`
Conditions can be combined with "and" in one text; "or" is not possible, but "in" is.
FIELDIsNull=true selects nulls, FIELDIsNotNull=true all other values.
Statuses of messages are numbers or words: not-sent, delivered, retrying, failed.
Put values that contain a comma, "..", or leading or trailing blanks in double
quotes, and write a quote inside as two quotes. Dates can be today, yesterday, -7d or -2h,
and durations 250ms, 1s or 2m.

  whctl query SO_Totals --where "InvoiceTotal>=1000" --where "InvoiceID^=D1"
  whctl query SO_Totals --where "InvoiceTotal in 10..20"
  whctl query SO_Totals --where "InvoiceID in D1,D2"
  whctl messages list --where "Status=failed and Retries>=2"
  whctl requests list --where "RequestDuration>250ms" --order-by -RequestDuration
  whctl query SO_Totals --where "InvoiceTotalGreaterThan=1000"
  whctl query SO_Totals --where "@conditions.txt"
  whctl query SO_Totals --filter-json "@filter.json"

A file has one condition per line; lines that start with # are comments; @- is
standard input. --filter-json takes a JSON object of query parameters.

Lists of messages, subscriptions, subscribers and requests have flags for frequent
conditions: --status, --event, --key, --endpoint, --since, --until, --subscriber,
--subscription, --client.

  whctl messages list --status failed --since 2h --endpoint erp.acme

whctl records RECORD lists the operators of each field.`)
}

// families has the types of fields by their operators.
var families = []struct {
	family record.Family
	types  string
}{
	{record.TextFilter, "text"},
	{record.OrderedFilter, "numbers, dates"},
	{record.EqualFilter, "bool, byte[]"},
	{record.GuidFilter, "guid"},
}

// familiesOf names the types of fields that support an operator.
func familiesOf(o record.Operator) string {
	var types []string
	for _, f := range families {
		if f.family.Allows(o) {
			types = append(types, f.types)
		}
	}
	if len(types) == len(families) {
		return "all"
	}
	return strings.Join(types, ", ")
}

func helpFormats(page cmdline.Page) {
	page.Line("--format NAME; default: by the extension of -o FILE (%s), else table on a terminal and csv elsewhere.\n",
		"."+strings.Join(output.FileFormats, ", ."))
	for _, f := range output.Formats() {
		page.Entry(f.Name, f.Summary)
	}
	page.Line(`
A table on a terminal has %d rows unless --take or --all is set; all other output
has all rows. On a terminal, tables of messages, subscriptions, keys and requests have
ages, local times, durations and short IDs, which commands accept; programs get the
values of the service. Numbers keep the digits that the service sent. In Windows
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
	fmt.Fprint(page, `whctl uses the first of these that is set:

  1. an API key: --token-file FILE, WHCTL_TOKEN
  2. a password from --password-stdin, --password-file FILE or WHCTL_PASSWORD; the
     user comes from --user, WHCTL_USER or the profile
  3. the login that whctl login stored for the profile, if its address and user are
     the same

If WHCTL_URL is set, WHCTL_TOKEN and WHCTL_PASSWORD belong to that service: they are
not sent to another one that is named by --url.

  whctl login --profile prod --url https://erp01:5050 --user jsmith
  whctl login --password-file secret.txt --remember
  whctl whoami
  whctl logout

whctl login reads the password from the same sources, then from the stored login,
then prompts for it on a terminal. It stores the session in the system's keyring;
with --remember it also stores the password, to renew an expired session without
a prompt. Without a keyring, as in services, on Linux without a desktop and over
SSH on Windows, --insecure-storage stores them in logins.toml next to the
configuration, readable only by you. For scripts, use an API key.

No flag takes the secret itself, because all users of a machine can read the
command lines of its processes.
`)
}

func helpPowerShell(page cmdline.Page) {
	fmt.Fprint(page, `Put conditions in double quotes. cmd.exe does not treat ' as a quote: in 'A>1' it
would redirect output to a file. In PowerShell, $ inside double quotes starts a
variable.

  whctl query SO_Totals --where "InvoiceTotal>=1000"
  whctl query SO_Totals --where "InvoiceTotal ge 1000"
  whctl query SO_Totals --where "@conditions.txt"

Windows PowerShell 5.1 changes the encoding of data sent through > and |, and
removes double quotes inside arguments. Use -o FILE, and files for JSON:

  whctl query SO_Totals --csv --excel -o totals.csv
  whctl query SO_Totals --format xlsx -o totals.xlsx
  whctl query SO_Totals --filter-json "@filter.json"
`)
}
