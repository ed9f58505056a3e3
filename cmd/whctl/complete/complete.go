// Package complete completes command lines in shells from the command table, the
// stored record kinds and the configuration. Only objects of the service, such as
// subscribers, are requested.
package complete

import (
	"cmp"
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
	commands := w.App.Commands
	for i := 0; i < len(words); i++ {
		if i == cursor {
			c.setCurrent(words[i])
			continue
		}
		word := strings.TrimLeft(words[i], `"'`)
		name, isFlag := flagName(word)
		flag := c.flags[name]
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
		default:
			commands = c.word(commands, strings.TrimRight(word, `"'`), i < cursor)
		}
	}
	return c
}

// setCurrent sets the word at the cursor.
func (c *line) setCurrent(word string) {
	c.current = strings.TrimLeft(word, `"'`)
	c.quoted = c.current != word
}

// word reads a command or an argument, before or after the cursor, and returns the commands that
// can follow.
func (c *line) word(commands []*cli.Command, word string, before bool) []*cli.Command {
	command := cmdline.FindCommand(commands, []string{word})
	if command != nil && len(c.allArgs) == 0 && before {
		c.command = command
		c.group = cmp.Or(c.group, command.Name)
		return command.Subcommands
	}
	c.allArgs = append(c.allArgs, word)
	if before {
		c.args = append(c.args, word)
	}
	return commands
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
		return c.matching(c.ofFlag(c.flags[name].Name), head+"=")
	case strings.HasPrefix(c.current, "-"):
		return c.matching(c.flagNames(), "")
	}
	return c.matching(c.ofArgument(), "")
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
	commands := c.App.Commands
	if c.command != nil {
		commands = c.command.Subcommands
	}
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
