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

	Objects ObjectsFunc
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
	return write(w.App.Writer, w.read(words[1:], cursor-1).candidates(), strip)
}

func write(to io.Writer, all []Candidate, strip string) error {
	var text strings.Builder
	for _, one := range all {
		if value, ok := strings.CutPrefix(one.Value, strip); ok {
			fmt.Fprintf(&text, "%s\t%s\n", display.Sanitize(value), display.Sanitize(one.Meaning))
		}
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// rejoin joins the words that bash has split at = and :. strip is the part of the
// word at the cursor that bash treats as separate words.
func rejoin(words []string, cursor int) (joined []string, at int, strip string) {
	glued := func(word string) bool { return word != "" && strings.Trim(word, "=:") == "" }
	for i, word := range words {
		if i > 1 && (glued(word) || glued(words[i-1])) {
			if i == cursor {
				if strip = joined[len(joined)-1]; glued(word) {
					strip += word
				}
			}
			joined[len(joined)-1] += word
		} else {
			joined = append(joined, word)
		}
		if i == cursor {
			at = len(joined) - 1
		}
	}
	return joined, at, strings.TrimLeft(strip, `"'`)
}

// line is a parsed, unfinished command line.
type line struct {
	Words
	flags   cmdline.FlagTable // of all commands
	values  map[string]string // of flags in the line
	command *cli.Command      // nil if there is none yet
	group   string            // the first command, such as messages
	args    []string          // arguments before the cursor
	all     []string          // arguments of the line
	flag    string            // name of the flag if its value is at the cursor
	current string            // the word at the cursor, without the quote before it
	quoted  bool
}

// read parses the words of a line.
func (w Words) read(words []string, cursor int) *line {
	c := &line{Words: w, flags: (cmdline.FlagTable{}).Add(w.App.Flags).AddCommands(w.App.Commands), values: make(map[string]string)}
	commands := w.App.Commands
	for i := 0; i < len(words); i++ {
		word := strings.TrimLeft(words[i], `"'`)
		if i == cursor {
			c.current, c.quoted = word, word != words[i]
			continue
		}
		name, isFlag := flagName(word)
		switch o := c.flags[name]; {
		case isFlag && o.TakesValue && !strings.Contains(word, "="):
			if i++; i == cursor {
				value := strings.TrimLeft(words[i], `"'`)
				c.flag, c.current, c.quoted = o.Name, value, value != words[i]
			} else if i < len(words) {
				c.values[o.Name] = strings.Trim(words[i], `"'`)
			}
		case isFlag:
			_, value, _ := strings.Cut(word, "=")
			c.values[o.Name] = strings.Trim(value, `"'`)
		default:
			commands = c.word(commands, strings.TrimRight(word, `"'`), i < cursor)
		}
	}
	return c
}

// word reads a command or an argument and returns the commands that can follow.
func (c *line) word(commands []*cli.Command, word string, before bool) []*cli.Command {
	if found := cmdline.FindCommand(commands, []string{word}); found != nil && len(c.all) == 0 && before {
		if c.command = found; c.group == "" {
			c.group = found.Name
		}
		return found.Subcommands
	}
	c.all = append(c.all, word)
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
		head, rest, _ := strings.Cut(c.current, "=")
		c.current = rest
		return c.matching(c.ofFlag(c.flags[name].Name), head+"=")
	case strings.HasPrefix(c.current, "-"):
		return c.matching(c.flagNames(), "")
	}
	return c.matching(c.ofArgument(), "")
}

// matching returns the candidates with the word at the cursor as a prefix,
// ignoring letter case, with head prepended.
func (c *line) matching(all []Candidate, head string) []Candidate {
	var found []Candidate
	for _, one := range all {
		if len(one.Value) >= len(c.current) && strings.EqualFold(one.Value[:len(c.current)], c.current) {
			one.Value = head + one.Value
			found = append(found, one)
		}
	}
	return found
}

// flagNames returns the flags of the command and of the program.
func (c *line) flagNames() []Candidate {
	all := c.App.Flags
	if c.command != nil {
		all = slices.Concat(c.command.Flags, all)
	}
	var found []Candidate
	for _, f := range all {
		if !cmdline.Visible(f) {
			continue
		}
		usage := ""
		if documented, ok := f.(cli.DocGenerationFlag); ok {
			_, usage = cmdline.UnquoteUsage(documented.GetUsage())
		}
		found = append(found, Candidate{"--" + f.Names()[0], usage})
	}
	return found
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
	var all []Candidate
	for _, one := range commands {
		if !one.Hidden {
			all = append(all, Candidate{one.Name, one.Usage})
		}
	}
	return all
}

// registry returns the record kinds that commands of the line's profile have stored.
func (c *line) registry() *record.Registry {
	return profile.StoredKinds(c.Env, func(name string) string { return c.values[name] })
}

// groupKinds has the kinds of the records that groups of commands list.
var groupKinds = map[string]string{"messages": "Message", "subscribers": "Subscriber", "subscriptions": "Subscription", "requests": "RequestLog"}

// kindOfLine returns the record kind in the line; nil if there is none.
func (c *line) kindOfLine() *record.Kind {
	if kind, known := record.System().Lookup(groupKinds[c.group]); known {
		return kind
	}
	registry := c.registry()
	for _, word := range c.all {
		if kind, ok := registry.Lookup(word); ok {
			return kind
		}
	}
	return nil
}
