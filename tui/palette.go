package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/shell"
	"github.com/bizhook/whd/tui/ui"
)

// CommandHost is the part of the app that commands use.
type CommandHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	// Open opens a destination, possibly in another tab.
	Open(to ui.Target) tea.Cmd
	// Do runs a binding of scope Everywhere; key is the key that was pressed.
	Do(b keymap.Binding, key string) tea.Cmd
	// ShowSignIn opens the sign-in form in place of the overlay and the input.
	ShowSignIn()
	// Refresh fetches the visible data again, and reconnects the stream if it was lost.
	Refresh() tea.Cmd
}

// palette runs commands that are entered after ":".
type palette struct {
	host     CommandHost
	session  *ui.Session
	account  *session.Account
	switcher *session.Switcher
	tabs     *shell.Tabs

	lastUse map[string]int // by the name of a target: position of its last input in the history
}

func newPalette(
	h CommandHost, account *session.Account, switcher *session.Switcher, tabs *shell.Tabs,
) *palette {
	return &palette{
		host:     h,
		session:  h.CurrentSession(),
		account:  account,
		switcher: switcher,
		tabs:     tabs,
	}
}

// input returns the input for commands, record kinds, tabs, views and profiles.
func (p *palette) input(h ui.LineHost) *ui.InputLine {
	p.readHistory()
	l := ui.NewInputLine(h, ui.CommandHistory, ":", "")
	l.Help = "record kind with conditions, tab, view, @profile or a command"
	l.Groups = p.groups()
	l.Suggest = p.suggestCommands
	l.Check = func(text string) error {
		_, err := p.parse(text)
		return err
	}
	l.Accept = func(text string) tea.Cmd {
		run, err := p.parse(text)
		if err != nil || run == nil {
			return nil
		}
		return run()
	}
	return l
}

// parse parses an input and returns its action, nil for an empty input.
func (p *palette) parse(text string) (func() tea.Cmd, error) {
	word, argument, _ := strings.Cut(strings.TrimSpace(text), " ")
	if word == "" {
		return nil, nil
	}
	if c, ok := commandOf(word); ok {
		return p.parseCommand(c, strings.TrimSpace(argument))
	}
	best, err := p.bestMatch(word)
	if err != nil {
		return nil, err
	}
	if best.kind != nil {
		return p.parseConditions(best.kind, argument)
	}
	argument = strings.TrimSpace(argument)
	if argument != "" && !strings.HasPrefix(word, "@") {
		return nil, fmt.Errorf("%s cannot be opened with conditions: %q", best.name, argument)
	}
	if best.command != nil {
		return p.parseCommand(*best.command, "")
	}
	return best.run, nil
}

// parseCommand returns the action of a command with its argument.
func (p *palette) parseCommand(c command, argument string) (func() tea.Cmd, error) {
	if err := c.checkArgument(p, argument); err != nil {
		return nil, err
	}
	return func() tea.Cmd { return c.run(p, argument) }, nil
}

// parseConditions returns the action that lists the records of a kind that meet conditions.
func (p *palette) parseConditions(kind *record.Kind, conditions string) (func() tea.Cmd, error) {
	filters, err := browse.ParseFilters(p.session.Now, kind, conditions)
	if err != nil {
		return nil, err
	}
	records := ui.RecordsTarget{
		Kind:    kind,
		Filters: filters,
		Typed:   browse.ParseTyped(p.session.Now, kind, conditions),
	}
	return func() tea.Cmd { return p.host.Open(records) }, nil
}

// bestMatch returns the target that matches a word best.
func (p *palette) bestMatch(word string) (target, error) {
	matches := p.matches(word)
	hasNoScreen := word == "users" || word == "keys"
	isName := len(matches) > 0 && strings.EqualFold(matches[0].name, word)
	if hasNoScreen && !isName {
		return target{}, fmt.Errorf("%[1]s have no screen; use whctl %[1]s", word)
	}
	if len(matches) == 0 {
		return target{}, fmt.Errorf("unknown command, record kind or view: %s; in Records, R fetches new kinds", word)
	}
	return matches[0], nil
}

// target is a possible meaning of a word: a record kind, a command, or a screen that run opens.
type target struct {
	name    string
	aliases []string // other names, in lower case
	help    string
	key     string // opens the same on a screen; empty for none
	kind    *record.Kind
	command *command
	run     func() tea.Cmd
}

// targets returns everything that can be entered.
func (p *palette) targets() []target {
	return slices.Concat(
		p.kindTargets(), p.tabTargets(), p.viewTargets(), p.profileTargets(), commandTargets(),
	)
}

func (p *palette) kindTargets() []target {
	var targets []target
	for _, kind := range p.session.Registry.Kinds() {
		targets = append(targets, target{name: kind.Name, help: kind.Summary, kind: kind})
	}
	return targets
}

// tabHelp describes the tabs.
var tabHelp = [len(shell.TabNames)]string{
	"endpoints, queue and failures",
	"record kinds and their rows",
	"subscribers, subscriptions",
	"messages and their attempts",
	"events to subscribe to",
	"requests to the service",
}

// tabAliases are other names of the tabs, in lower case. Subscriptions have no tab of their own.
var tabAliases = [len(shell.TabNames)][]string{
	shell.SubscribersTab: {"subscriptions", "subs"},
}

func (p *palette) tabTargets() []target {
	var targets []target
	keys := keymap.Bindings.KeysOf(keymap.Everywhere, keymap.GoTab)
	for i, name := range shell.TabNames {
		targets = append(targets, target{
			name:    name,
			aliases: tabAliases[i],
			help:    tabHelp[i],
			key:     keys[i],
			run:     func() tea.Cmd { return p.tabs.Open(i) },
		})
	}
	return targets
}

func (p *palette) viewTargets() []target {
	var targets []target
	for _, view := range p.session.State.Views {
		targets = append(targets, target{
			name: view.Name,
			help: "saved view of " + view.Record,
			run:  func() tea.Cmd { return p.host.Open(ui.ViewTarget{View: view}) },
		})
	}
	return targets
}

func (p *palette) profileTargets() []target {
	var targets []target
	for _, profile := range p.switcher.Profiles() {
		targets = append(targets, target{
			name: "@" + profile.Name,
			help: "switch to " + ui.ShortURL(profile.URL),
			run:  func() tea.Cmd { return p.switcher.SwitchTo(profile.Name) },
		})
	}
	return targets
}

func commandTargets() []target {
	var targets []target
	for _, c := range commands() {
		targets = append(targets, target{name: c.name, help: c.help, key: c.key, command: &c})
	}
	return targets
}

// matches returns the targets that match a word, the best first. Of equally good ones, the one that
// was used last is the first.
func (p *palette) matches(word string) []target {
	word = strings.ToLower(word)
	matches := slices.DeleteFunc(p.targets(), func(t target) bool { return t.rank(word) == noMatch })
	slices.SortStableFunc(matches, func(x, y target) int {
		return cmp.Or(
			cmp.Compare(x.rank(word), y.rank(word)),
			cmp.Compare(p.lastUse[y.name], p.lastUse[x.name]),
		)
	})
	return matches
}

// matchRank is how a target matches a word, the best first.
type matchRank int

const (
	equalName matchRank = iota
	namePrefix
	nameSubstring
	nameSubsequence
	kindSummary // the word is in the summary of a record kind
	noMatch
)

// rank returns how the target matches a word in lower case: by the name that matches best.
func (t target) rank(word string) matchRank {
	best := rankName(strings.ToLower(t.name), word)
	for _, alias := range t.aliases {
		best = min(best, rankName(alias, word))
	}
	isInSummary := t.kind != nil && strings.Contains(strings.ToLower(t.help), word)
	if best == noMatch && isInSummary && len(word) > 2 {
		return kindSummary
	}
	return best
}

// rankName returns how a name in lower case matches a word.
func rankName(name, word string) matchRank {
	switch {
	case name == word:
		return equalName
	case strings.HasPrefix(name, word):
		return namePrefix
	case strings.Contains(name, word):
		return nameSubstring
	case isSubsequence(name, word):
		return nameSubsequence
	}
	return noMatch
}

// isSubsequence reports whether word is a subsequence of name.
func isSubsequence(name, word string) bool {
	for _, r := range word {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}

// suggestCommands returns completions of an input: names, or the fields of a record
// kind after its name.
func (p *palette) suggestCommands(text string) []ui.Suggestion {
	word, argument, hasArgument := strings.Cut(strings.TrimLeft(text, " "), " ")
	if hasArgument {
		return p.suggestArgument(word, argument)
	}
	var list []ui.Suggestion
	for _, t := range p.matches(word) {
		list = append(list, t.suggestion())
	}
	return list
}

func (t target) suggestion() ui.Suggestion {
	return ui.Suggestion{Text: t.name, Name: t.name, Help: t.help, Key: t.key}
}

// suggestArgument returns completions of the text after a command or record kind.
func (p *palette) suggestArgument(word, argument string) []ui.Suggestion {
	if c, ok := commandOf(word); ok && c.completions != nil {
		return suggestWords(word, argument, c.completions(p))
	}
	matches := p.matches(word)
	if len(matches) == 0 || matches[0].kind == nil {
		return nil
	}
	list := browse.SuggestFields(matches[0].kind, argument)
	for i := range list {
		list[i].Text = word + " " + list[i].Text
	}
	return list
}

// suggestWords returns completions of the argument of a command.
func suggestWords(verb, argument string, words []string) []ui.Suggestion {
	var list []ui.Suggestion
	for _, word := range words {
		if strings.HasPrefix(word, argument) && word != argument {
			list = append(list, ui.Suggestion{Text: verb + " " + word, Name: word})
		}
	}
	return list
}
