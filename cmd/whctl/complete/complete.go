// Package complete completes command lines in shells from the command table, the
// stored record kinds and the configuration. Only objects of the service, such as
// subscribers, are requested.
package complete

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// Candidate is a possible completion.
type Candidate struct{ Value, Meaning string }

// Words is the source of completions.
type Words struct {
	App    *cli.App
	Env    func(string) string
	Values map[string][]Candidate // additional values of flags and arguments, by name

	Objects ObjectsFunc // can be nil
	shell   string
}

// ObjectsFunc returns the objects of the service that are possible values of an argument,
// such as SUBSCRIBER. global returns the value of a global flag.
type ObjectsFunc func(noun string, global func(name string) string) []Candidate

// Complete prints a line for each candidate: the word, a tab and its meaning.
func (w Words) Complete(args []string) error {
	if len(args) < 3 {
		return cmdline.Usagef("%s takes SHELL CURSOR WORDS...", cmdline.CompleteCommand)
	}
	cursor, err := strconv.Atoi(args[1])
	words := args[2:]
	if err != nil || cursor < 1 || cursor > len(words) {
		return cmdline.Usagef("%s: invalid word index %s", cmdline.CompleteCommand, args[1])
	}
	if cursor == len(words) {
		words = append(slices.Clone(words), "")
	}
	strip := ""
	w.shell = args[0]
	if w.shell == "bash" {
		words, cursor, strip = rejoin(words, cursor)
	}
	line := w.read(words[1:], cursor-1) // without the name of the program
	return write(w.App.Writer, line.candidates(), strip)
}

// write writes a line for each candidate that starts with strip, which is left out.
func write(to io.Writer, candidates []Candidate, strip string) error {
	var text strings.Builder
	for _, candidate := range candidates {
		if value, ok := strings.CutPrefix(candidate.Value, strip); ok {
			fmt.Fprintf(&text, "%s\t%s\n", display.Sanitize(value), display.Sanitize(candidate.Meaning))
		}
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// rejoin joins the words that bash has split at = and :. position is that of the cursor in
// joined; strip is the part of the word there that bash treats as separate words.
func rejoin(words []string, cursor int) (joined []string, position int, strip string) {
	isSeparator := func(word string) bool { return word != "" && strings.Trim(word, "=:") == "" }
	for i, word := range words {
		last := len(joined) - 1
		continues := i > 1 && (isSeparator(word) || isSeparator(words[i-1]))
		if continues {
			if i == cursor {
				strip = joined[last]
			}
			if i == cursor && isSeparator(word) {
				strip += word
			}
			joined[last] += word
		} else {
			joined = append(joined, word)
		}
		if i == cursor {
			position = len(joined) - 1
		}
	}
	return joined, position, strings.TrimLeft(strip, `"'`)
}

// line is a parsed, unfinished command line.
type line struct {
	Words
	flags   cmdline.FlagTable // flags of all commands
	values  map[string]string // values of flags in the line
	words   []string          // words before the cursor, without flags and their values
	command *cli.Command      // nil if there is none yet
	group   string            // the first command, such as messages
	args    []string          // arguments before the cursor
	allArgs []string          // arguments before and after the cursor
	flag    string            // name of the flag if its value is at the cursor
	current string            // the word at the cursor, without the quote before it
	quoted  bool              // there is a quote before the word at the cursor
}

// read parses the words of a line.
func (w Words) read(words []string, cursor int) *line {
	c := &line{
		Words:  w,
		flags:  (cmdline.FlagTable{}).Add(w.App.Flags).AddCommands(w.App.Commands),
		values: make(map[string]string),
	}
	var after []string // words after the cursor
	for i := 0; i < len(words); i++ {
		if i == cursor {
			c.setCurrent(words[i])
			continue
		}
		word := strings.TrimLeft(words[i], `"'`)
		name, isFlag := flagName(word)
		flag, isKnown := c.flags[name]
		if isFlag && !isKnown {
			flag, _ = c.flags.Familiar(name)
		}
		_, value, hasValue := strings.Cut(word, "=")
		needsNextWord := flag.TakesValue && !hasValue
		switch {
		case isFlag && needsNextWord:
			i++
			if i == cursor {
				c.flag = flag.Name
				c.setCurrent(words[i])
			} else if i < len(words) {
				c.values[flag.Name] = strings.Trim(words[i], `"'`)
			}
		case isFlag:
			c.values[flag.Name] = strings.Trim(value, `"'`)
		case i < cursor:
			c.words = append(c.words, strings.TrimRight(word, `"'`))
		default:
			after = append(after, strings.TrimRight(word, `"'`))
		}
	}
	c.findCommand()
	c.allArgs = slices.Concat(c.args, after)
	return c
}

// findCommand finds the command that the words before the cursor name. The words after it are
// arguments.
func (c *line) findCommand() {
	path, args := cmdline.CommandAt(c.App, c.words)
	c.args = args
	if len(path) > 0 {
		c.group = path[0]
		c.command = cmdline.FindCommand(c.App.Commands, path)
	}
}

// setCurrent sets the word at the cursor.
func (c *line) setCurrent(word string) {
	c.current = strings.TrimLeft(word, `"'`)
	c.quoted = c.current != word
}

// flagName returns the name of the flag in a word.
func flagName(word string) (string, bool) {
	if len(word) < 2 || word[0] != '-' {
		return "", false
	}
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return name, true
}

// candidates returns the completions of the word at the cursor.
func (c *line) candidates() []Candidate {
	name, isFlag := flagName(c.current)
	switch {
	case c.flag != "":
		return c.matching(c.ofFlag(c.flag), "")
	case isFlag && strings.Contains(c.current, "="):
		head, value, _ := strings.Cut(c.current, "=")
		c.current = value
		flag, isKnown := c.flags[name]
		if !isKnown {
			flag, _ = c.flags.Familiar(name)
		}
		return c.matching(c.ofFlag(flag.Name), head+"=")
	case strings.HasPrefix(c.current, "-"):
		return c.orFamiliar(c.matching(c.flagNames(), ""), cmdline.FamiliarFlags(c.flagsHere()))
	}
	candidates := c.matching(append(c.ofArgument(), c.nouns()...), "")
	if isCommand := len(c.args) == 0 && len(c.commandsHere()) > 0; isCommand {
		return c.orFamiliar(candidates, cmdline.FamiliarCommands(c.commandsHere()))
	}
	return candidates
}

// orFamiliar returns the candidates, or if there are none, the words of other programs with the
// word at the cursor as a prefix.
func (c *line) orFamiliar(candidates []Candidate, words []cmdline.FamiliarWord) []Candidate {
	if len(candidates) > 0 {
		return candidates
	}
	for _, w := range cmdline.MatchFamiliar(words, c.current) {
		candidates = append(candidates, Candidate{w.Word, "the same as " + w.Own})
	}
	return candidates
}

// commandsHere returns the commands that can follow the words before the cursor.
func (c *line) commandsHere() []*cli.Command {
	if c.command == nil {
		return c.App.Commands
	}
	return c.command.Subcommands
}

// flagsHere returns the flags of the command and of the program.
func (c *line) flagsHere() cmdline.FlagTable {
	flags := cmdline.FlagTable{}.Add(c.App.Flags)
	if c.command != nil {
		flags.Add(c.command.Flags)
	}
	return flags
}

// matching returns the candidates with the word at the cursor as a prefix,
// ignoring letter case, with head prepended.
func (c *line) matching(candidates []Candidate, head string) []Candidate {
	var matches []Candidate
	for _, candidate := range candidates {
		value := candidate.Value
		if len(value) >= len(c.current) && strings.EqualFold(value[:len(c.current)], c.current) {
			matches = append(matches, Candidate{Value: head + value, Meaning: candidate.Meaning})
		}
	}
	return matches
}

// flagNames returns the flags of the command and of the program.
func (c *line) flagNames() []Candidate {
	flags := c.App.Flags
	if c.command != nil {
		flags = slices.Concat(c.command.Flags, flags)
	}
	var candidates []Candidate
	for _, f := range flags {
		if !cmdline.Visible(f) {
			continue
		}
		usage := ""
		if documented, ok := f.(cli.DocGenerationFlag); ok {
			_, usage = cmdline.UnquoteUsage(documented.GetUsage())
		}
		candidates = append(candidates, Candidate{"--" + f.Names()[0], usage})
	}
	return candidates
}

// ofArgument returns the candidates of the argument at the cursor: commands, or the
// values of its name in ArgsUsage.
func (c *line) ofArgument() []Candidate {
	commands := c.commandsHere()
	if len(commands) > 0 && len(c.args) == 0 {
		return commandCandidates(commands)
	}
	if c.command == nil {
		return nil
	}
	words := strings.Fields(c.command.ArgsUsage)
	if len(words) == 0 {
		return nil
	}
	word := words[min(len(c.args), len(words)-1)]
	if len(c.args) >= len(words) && !strings.Contains(word, "...") {
		return nil
	}
	return c.named(strings.Trim(word, "[]."))
}

// nouns returns the groups that can follow a verb, as in get messages.
func (c *line) nouns() []Candidate {
	isVerb := len(c.words) == 1 && cmdline.FindCommand(c.App.Commands, c.words) == nil
	if !isVerb {
		return nil
	}
	var candidates []Candidate
	for _, group := range c.App.Commands {
		path, _ := cmdline.CommandAt(c.App, []string{c.words[0], group.Name})
		if len(path) == 2 && path[0] == group.Name {
			candidates = append(candidates, Candidate{group.Name, group.Usage})
		}
	}
	return candidates
}

func commandCandidates(commands []*cli.Command) []Candidate {
	var candidates []Candidate
	for _, command := range commands {
		if !command.Hidden {
			candidates = append(candidates, Candidate{command.Name, command.Usage})
		}
	}
	return candidates
}

// registry returns the record kinds that commands of the line's profile have stored.
func (c *line) registry() *record.Registry {
	return profile.StoredKinds(c.Env, func(name string) string { return c.values[name] })
}

// groupKinds has the kinds of the records that groups of commands list.
var groupKinds = map[string]string{
	"messages":      "Message",
	"subscribers":   "Subscriber",
	"subscriptions": "Subscription",
	"requests":      "RequestLog",
}

// kindOfLine returns the record kind in the line; nil if there is none.
func (c *line) kindOfLine() *record.Kind {
	if kind, ok := record.System().Lookup(groupKinds[c.group]); ok {
		return kind
	}
	registry := c.registry()
	for _, word := range c.allArgs {
		if kind, ok := registry.Lookup(word); ok {
			return kind
		}
	}
	return nil
}
