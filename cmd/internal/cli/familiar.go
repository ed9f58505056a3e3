package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// familiarRow has the words that other programs, such as gh, kubectl, psql, curl and k9s, have for
// a command or flag of whd or whctl. The words share too few letters for a suggestion by spelling.
// ReorderArgs, help, completion and suggestions read the table.
//
// A word of works is understood in place of own, unless the command has that word itself. A word
// of hints has other meanings too, so that it is an error with a suggestion. Lists are separated
// by commas.
//
// own is the path of a command from the group of the word, or a flag; either can be followed by a
// flag with its value. In capitals, it is an argument of the command. A word of several parts has
// its group before it; there, * is any argument.
//
// only is the path of the only command that a row of a flag is for; it is empty for rows of all
// commands that have the flag.
type familiarRow struct{ own, works, hints, only string }

// familiar is the table. If a command has the flags of several rows, a word is that of the first.
var familiar = []familiarRow{
	{own: "--take", works: "--limit, -L, --top, --head, --max-rows, --max-results", hints: "--max, --tail"},
	{own: "--skip", works: "--offset"},
	{
		own:   "--order-by",
		works: "--sort, --sort-by, --orderby",
	},
	{own: "--order-by -RequestDuration", hints: "--slow, --slowest", only: "requests list"},
	{own: "--desc", works: "--descending, --reverse"},
	{own: "--by", works: "--group-by, --groupby, --group", hints: "--count-by"},
	{own: "--fields", works: "--select, --columns, --cols, --column"},
	{
		own:   "--where",
		works: "--filter, --condition, --field-selector",
		hints: "--search, --selector, -l, --id, --key",
	},
	{own: "--when", works: "--filter, --condition", hints: "--if"},
	{own: "--errors", works: "--failed, --level error", hints: "--level"},
	{own: "--status failed", works: "--failed"},
	{own: "--since", works: "--after", hints: "--from"},
	{own: "--window", works: "--since, --last, --period"},
	{own: "--until", works: "--before"},
	{own: "--all", works: "--paginate, --no-limit"},
	{own: "--format", hints: "--output-format"},
	{own: "--format raw", hints: "--raw"},
	{own: "--format vertical", works: "--vertical, --expanded, -x, -G"},
	{own: "--full", hints: "--no-trunc"},
	{own: "--no-headers", works: "--no-header, --noheader", hints: "--tuples-only, -t"},
	{own: "--new-password-file", hints: "--password, --pass, --passwd, --new-password"},
	{own: "--client", works: "--ip, --address"},
	{own: "--contents", works: "--value, --text"},
	{own: "--body", works: "--data, --data-raw, -d, --payload", hints: "-f, --file, --from-file"},
	{own: "--header", works: "-H"},
	{own: "--event", works: "--events"},
	{own: "--forward-to", works: "--forward"},
	{own: "--to", works: "--db, --target", hints: "-o, --output, --file"},
	{own: "--secret-file", hints: "-o, --output"},
	{own: "--url", works: "--host, --hostname, --server"},
	{own: "--user", works: "--username, -U", hints: "-u"},
	{own: "--profile", works: "--context"},
	{own: "--timeout", works: "--request-timeout"},
	{own: "--yes", hints: "--assume-yes, --force, -f"},
	{own: "SHELL", works: "-s, --shell"},

	{own: "query", works: "records list, records ls, records get"},
	{
		own: "records",
		works: `tables, table, kinds, kind, types, schema, api-resources, describe, \dt, \d, dt, ` +
			"explain, records list, records ls, records show, records view, records describe, " +
			"list records, ls records, get records, show records, describe records, " +
			"list tables, show tables, list kinds",
		hints: "list, ls",
	},
	{own: "query", works: "get, queries, search, find, export", hints: "select, sql, -c"},
	{own: "query --count", works: "count"},
	{own: "query --format raw", hints: "api, curl"},
	{own: "messages", works: "deliveries, delivery, msgs, msg"},
	{own: "messages retry", works: "retry, resend, replay, redeliver, rerun"},
	{own: "subscriptions", works: "webhooks, webhook, hooks, hook, subs, sub", hints: "endpoints, endpoint"},
	{
		own:   "subscriptions show",
		works: "get endpoint, show endpoint, describe endpoint, describe endpoints",
	},
	{own: "subscriptions disable", hints: "disable, pause"},
	{own: "subscriptions enable", hints: "enable, resume"},
	{
		own:   "requests list",
		works: "logs, log, logs list, log list, logs ls, log ls, get logs, list logs, show logs",
	},
	{own: "requests tail", works: "logs tail, log tail, logs follow, logs watch, tail logs, watch logs"},
	{own: "listen", hints: "watch, tail"},
	{own: "messages tail", hints: "watch, tail"},
	{
		own:   "messages show --attempts",
		works: "attempts, get attempts, list attempts, show attempts, describe attempts, messages attempts",
	},
	{own: "events publish", works: "publish, emit", hints: "send"},
	{own: "trigger", hints: "send"},
	{own: "why", works: "history", hints: "trace, records * *, why * *"},
	{own: "follow", works: "changes follow, changes tail, changes watch", hints: "changes *"},
	{own: "mirror", hints: "sync, replicate, copy, sqlite"},
	{own: "keys", works: "tokens, token, apikeys, api-keys"},
	{own: "login", works: "auth login, signin, sign-in", hints: "auth"},
	{own: "logout", works: "auth logout, signout, sign-out"},
	{own: "whoami", works: "auth status, auth whoami, me", hints: "auth"},
	{own: "users update --new-password", works: "users passwd, users password, passwd"},
	{own: "profile", works: "contexts, context, ctx"},
	{own: "profile list", works: "config get-contexts"},
	{own: "profile use", works: "config use-context"},
	{own: "profile show", works: "config current-context"},
	{own: "profile delete", works: "config delete-context"},
	{own: "profile create", hints: "config set-context, config set-cluster"},
	{own: "config show", works: "config view, config list, config ls"},
	{own: "info", works: "cluster-info, server-info, show info, get info"},
	{own: "doctor", works: "health, healthz, livez, readyz, status, ping, get health", hints: "check"},
	{
		own:   "stats",
		works: "show stats, get stats, get endpoints, list endpoints, show endpoints",
		hints: "metrics, top, endpoints, endpoint",
	},
	{own: "tui", works: "ui, dashboard", hints: "top"},

	{own: "list", works: "ls, get", hints: "status"},
	{own: "show", works: "get, describe, view", hints: "list"},
	{own: "create", works: "add, new"},
	{own: "update", works: "edit, set, patch"},
	{own: "delete", works: "remove, rm, revoke"},
	{own: "enable", works: "resume, unpause", hints: "--enable, --enabled"},
	{own: "disable", works: "pause, suspend", hints: "--disable, --enabled"},
	{own: "retry", works: "resend, replay, redeliver, rerun"},
	{own: "publish", works: "emit, send, create, new"},
	{own: "tail", works: "watch, follow", hints: "--watch, -w, --follow, -f"},
	{own: "follow", hints: "--watch, --follow, -f"},
}

// splitList splits a list of the table.
func splitList(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ", ")
}

// understands reports whether a word is understood in place of the row's own.
func (f familiarRow) understands(word string) bool {
	return slices.Contains(splitList(f.works), word)
}

// has reports whether a word is understood, or leads to a suggestion of the row's own.
func (f familiarRow) has(word string) bool {
	return f.understands(word) || slices.Contains(splitList(f.hints), word)
}

// isFlag reports whether the row is about a flag, not about a command.
func (f familiarRow) isFlag() bool { return strings.HasPrefix(f.own, "--") }

// isArgument reports whether the row is about an argument.
func (f familiarRow) isArgument() bool { return f.own == strings.ToUpper(f.own) }

// command returns the path of the row's command; nil if there is none.
func (f familiarRow) command() []string {
	if f.isFlag() || f.isArgument() {
		return nil
	}
	before, _, _ := strings.Cut(f.own, " --")
	return strings.Fields(before)
}

// flag returns the name of the row's flag without dashes, and its value; both empty if there are
// none.
func (f familiarRow) flag() (name, value string) {
	_, after, ok := strings.Cut(" "+f.own, " --")
	if !ok {
		return "", ""
	}
	name, value, _ = strings.Cut(after, " ")
	return name, value
}

// translate returns the row's flag with the value of the flag of another program, or with that of
// the row.
func (f familiarRow) translate(written writtenFlag) writtenFlag {
	var value string
	written.name, value = f.flag()
	if value != "" {
		written.value = value
		written.hasValue = true
	}
	if f.understands(written.typed + " " + strings.ToLower(written.typedValue)) { // a part of the word
		written.value = value
		written.hasValue = value != ""
	}
	return written
}

// familiarNames returns the names of this program for a word of another one.
func familiarNames(word string, isKnown func(f familiarRow) bool) []string {
	var names []string
	for _, f := range familiar {
		if f.has(word) && isKnown(f) {
			names = append(names, f.own)
		}
	}
	return names
}

// familiarFlag returns the row of a flag of another program, the first one with a flag that isKnown
// selects.
func familiarFlag(written string, isKnown func(f familiarRow) bool) (familiarRow, bool) {
	isMeant := func(f familiarRow) bool { return f.understands(written) && isKnown(f) }
	i := slices.IndexFunc(familiar, isMeant)
	if i < 0 {
		return familiarRow{}, false
	}
	return familiar[i], true
}

// takesFamiliarValue reports whether a flag is a word of another program together with its value,
// such as --level error.
func takesFamiliarValue(written string) bool {
	return slices.ContainsFunc(familiar, func(f familiarRow) bool {
		isStart := func(word string) bool { return strings.HasPrefix(word, written+" ") }
		return slices.ContainsFunc(splitList(f.works), isStart)
	})
}

// dashed returns a flag as written, by its name.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// Familiar finds the flag that a flag of another program stands for, by its name without dashes.
func (t FlagTable) Familiar(name string) (Flag, bool) {
	row, ok := familiarFlag(dashed(name), func(f familiarRow) bool {
		flag, value := f.flag()
		return value == "" && t.Has(flag)
	})
	if !ok {
		return Flag{}, false
	}
	flag, _ := row.flag()
	return t[flag], true
}

// TakesValue reports whether a flag, including a flag of another program, takes a value.
func (t FlagTable) TakesValue(name string) bool {
	flag, ok := t[name]
	if !ok {
		flag, _ = t.Familiar(name)
	}
	return flag.TakesValue
}

// FamiliarWord is a word of other programs and the own name that it stands for.
type FamiliarWord struct{ Word, Own string }

// FamiliarFlags returns the flags of other programs that a command with the flags of a table
// understands.
func FamiliarFlags(t FlagTable) []FamiliarWord {
	return wordsOf(func(f familiarRow, word string) bool {
		flag, _ := f.flag()
		isOwn := t.Has(strings.TrimLeft(word, "-"))
		return f.isFlag() && t.Has(flag) && !isOwn
	})
}

// FamiliarCommands returns the words of other programs that are understood in place of one of the
// commands.
func FamiliarCommands(commands []*cli.Command) []FamiliarWord {
	return wordsOf(func(f familiarRow, word string) bool {
		isPhrase := strings.Contains(word, " ")
		return FindCommand(commands, f.command()) != nil && !isPhrase && FindCommand(commands, []string{word}) == nil
	})
}

// familiarWords returns all words of other programs that a program understands.
func familiarWords(app *cli.App) []FamiliarWord {
	flags := FlagTable{}.Add(app.Flags).AddCommands(app.Commands)
	return wordsOf(func(f familiarRow, word string) bool {
		flag, _ := f.flag()
		isKnown := f.isFlag() && flags.Has(flag) || findAnywhere(app.Commands, f.command())
		return isKnown && FindCommand(app.Commands, strings.Fields(word)) == nil
	})
}

// findAnywhere reports whether commands, or those of a group, have a command at a path.
func findAnywhere(commands []*cli.Command, path []string) bool {
	if FindCommand(commands, path) != nil {
		return true
	}
	return slices.ContainsFunc(commands, func(c *cli.Command) bool {
		return FindCommand(c.Subcommands, path) != nil
	})
}

// wordsOf returns the words that are understood, of the rows that a function selects. A flag with
// several meanings has the first.
func wordsOf(selects func(f familiarRow, word string) bool) []FamiliarWord {
	var words []FamiliarWord
	isListed := make(map[string]bool)
	for _, f := range familiar {
		for _, word := range splitList(f.works) {
			if isListed[word] || !selects(f, word) {
				continue
			}
			isListed[word] = f.isFlag()
			words = append(words, FamiliarWord{Word: word, Own: f.own})
		}
	}
	return words
}

// meaning is a command that words of other programs name.
type meaning struct {
	path  []string // from the program
	words int      // number of arguments that it replaces
	row   familiarRow
}

// meaningOf returns the command that the first arguments name after the path of a group, or after
// that of a command; false if they have no meaning, or several.
func meaningOf(app *cli.App, path, args []string) (meaning, bool) {
	if len(args) == 0 {
		return meaning{}, false
	}
	commands := app.Commands
	if len(path) > 0 {
		commands = FindCommand(commands, path).Subcommands
	}
	if c := FindCommand(commands, args[:1]); c != nil {
		return meaning{path: append(slices.Clone(path), c.Name), words: 1}, true
	}
	if m, ok := verbThenNoun(app, path, args); ok {
		return m, true
	}
	if m, ok := phraseMeaning(app, path, args); ok {
		return m, true
	}
	row, ok := wordMeaning(commands, args[0], len(args)-1)
	return meaning{path: append(slices.Clone(path), row.command()...), words: 1, row: row}, ok
}

// verbThenNoun returns the command of a line such as get messages: that of the group with the
// verb.
func verbThenNoun(app *cli.App, path, args []string) (meaning, bool) {
	if len(path) > 0 || len(args) < 2 {
		return meaning{}, false
	}
	group := FindCommand(app.Commands, args[1:2])
	if group == nil {
		row, _ := wordMeaning(app.Commands, args[1], 0)
		group = FindCommand(app.Commands, row.command())
	}
	if group == nil || len(group.Subcommands) == 0 {
		return meaning{}, false
	}
	if verb := FindCommand(group.Subcommands, args[:1]); verb != nil {
		return meaning{path: []string{group.Name, verb.Name}, words: 2}, true
	}
	row, ok := wordMeaning(group.Subcommands, args[0], len(args)-2)
	return meaning{path: append([]string{group.Name}, row.command()...), words: 2, row: row}, ok
}

// phraseMeaning returns the command of a word of several parts: the last parts of the path and the
// first arguments. Of several, it is the first that takes as many arguments as follow.
func phraseMeaning(app *cli.App, path, args []string) (meaning, bool) {
	for words := 1; words <= min(2, len(args)); words++ {
		phrase := strings.Join(slices.Concat(path, args[:words]), " ")
		if !strings.Contains(phrase, " ") {
			continue
		}
		var meanings []meaning
		for _, f := range familiar {
			command := FindCommand(app.Commands, f.command())
			if !f.understands(phrase) || command == nil {
				continue
			}
			m := meaning{path: f.command(), words: words, row: f}
			if takes(command, len(args)-words) {
				return m, true
			}
			meanings = append(meanings, m)
		}
		if len(meanings) > 0 {
			return meanings[0], true
		}
	}
	return meaning{}, false
}

// takes reports whether a command takes a number of arguments.
func takes(command *cli.Command, arguments int) bool {
	minimum, maximum := arity(command.ArgsUsage)
	return arguments >= minimum && (maximum < 0 || arguments <= maximum)
}

// wordMeaning returns the row of the command that a word stands for in a group. Of several, it is
// the one that takes as many arguments as follow.
func wordMeaning(commands []*cli.Command, word string, arguments int) (familiarRow, bool) {
	var rows, fitting []familiarRow
	for _, f := range familiar {
		command := FindCommand(commands, f.command())
		if !f.understands(word) || command == nil {
			continue
		}
		rows = append(rows, f)
		if takes(command, arguments) {
			fitting = append(fitting, f)
		}
	}
	if len(rows) != 1 {
		rows = fitting
	}
	if len(rows) != 1 {
		return familiarRow{}, false
	}
	return rows[0], true
}

// resolved is the command that words name.
type resolved struct {
	path  []string
	args  []string      // the words after it
	flags []writtenFlag // those that words of other programs imply
}

// resolve finds the command that words name after a path, also in the words of other programs.
func resolve(app *cli.App, path, words []string) resolved {
	result := resolved{path: path, args: words}
	for {
		m, ok := meaningOf(app, result.path, result.args)
		if !ok {
			return result
		}
		result.path = m.path
		result.args = result.args[m.words:]
		if name, value := m.row.flag(); name != "" {
			result.flags = append(result.flags, writtenFlag{
				name:     name,
				value:    value,
				hasValue: value != "",
			})
		}
	}
}

// CommandAt returns the path of the command at the start of a line, which can be in the words of
// other programs, and the arguments after it.
func CommandAt(app *cli.App, words []string) (path, args []string) {
	command := resolve(app, nil, words)
	return command.path, command.args
}
