package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/shell"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// CommandHost is the part of the app that commands use in addition to ui.Host.
type CommandHost interface {
	// Do runs a binding of scope Everywhere; key is the key that was pressed.
	Do(b keymap.Binding, key string) tea.Cmd
	// ShowSignIn opens the sign-in form in place of the overlay and the input.
	ShowSignIn()
	// Refresh fetches the visible data again, and reconnects the stream if it was lost.
	Refresh() tea.Cmd
}

// palette runs commands that are entered after ":".
type palette struct {
	ui.HostSession
	app      CommandHost
	account  *session.Account
	switcher *session.Switcher
	tabs     *shell.Tabs
}

func newPalette(
	h ui.Host, app CommandHost, account *session.Account, switcher *session.Switcher, tabs *shell.Tabs,
) *palette {
	return &palette{HostSession: ui.NewHostSession(h), app: app, account: account, switcher: switcher, tabs: tabs}
}

// do runs the binding of an action.
func (p *palette) do(action keymap.Action) tea.Cmd {
	return p.app.Do(keymap.Binding{Action: action}, "")
}

// command is a command.
type command struct {
	name string
	help string
	run  func(p *palette, argument string) tea.Cmd
}

// commands returns all commands.
func commands() []command {
	return []command{
		{"help", "show the keys of the current screen", func(p *palette, _ string) tea.Cmd {
			return p.do(keymap.ShowHelp)
		}},
		{"cli", "show the equivalent whctl command", func(p *palette, _ string) tea.Cmd {
			return p.do(keymap.ShowCommand)
		}},
		{"rw", "allow changes in this session", func(p *palette, argument string) tea.Cmd {
			return p.account.AllowChanges(argument)
		}},
		{"ro", "forbid changes in this session", func(p *palette, _ string) tea.Cmd {
			p.account.ForbidChanges()
			return nil
		}},
		{"save", "save these rows as a view: save NAME", func(p *palette, name string) tea.Cmd { return p.saveView(name) }},
		{"drop", "delete a view: drop NAME", func(p *palette, name string) tea.Cmd { return p.dropView(name) }},
		{"profiles", "switch to another profile", func(p *palette, _ string) tea.Cmd { return p.do(keymap.SwitchProfile) }},
		{"errors", "list errors", func(p *palette, _ string) tea.Cmd { return p.do(keymap.ShowErrors) }},
		{"jobs", "list exports of this session", func(p *palette, _ string) tea.Cmd { return p.do(keymap.ShowJobs) }},
		{"bill", "custom fields of a bill: BILL/STAGE, or BILL/STAGE/SETTING", func(p *palette, argument string) tea.Cmd {
			return records.NewBill(p.Host).Open(argument)
		}},
		{"why", "the history of a key, or of a message by ID: why KEY", func(p *palette, key string) tea.Cmd {
			return p.Host.Open(ui.WhyTarget{Key: key})
		}},
		{"changes", "live list of the changes of records: changes RECORD", func(p *palette, name string) tea.Cmd {
			kind, _ := p.Session.Registry.Lookup(name) // checked
			return p.Host.Open(ui.ChangesTarget{Kind: kind})
		}},
		{"refresh", "refresh the screen", func(p *palette, _ string) tea.Cmd { return p.app.Refresh() }},
		{"login", "sign in", func(p *palette, _ string) tea.Cmd { p.app.ShowSignIn(); return nil }},
		{"quit", "quit whctl", func(p *palette, _ string) tea.Cmd { return p.do(keymap.Quit) }},
	}
}

// maxViewName is the maximum length of the name of a view.
const maxViewName = 40

// argument describes the argument of a command.
type argument struct {
	check       func(p *palette, text string) error
	completions func(p *palette) []string
}

var arguments = map[string]argument{
	"save": {(*palette).checkViewName, (*palette).viewNames},
	"drop": {(*palette).checkView, (*palette).viewNames},
	"why": {func(_ *palette, key string) error {
		if key == "" {
			return errors.New("give the key of an event or record, or the ID of a message")
		}
		return nil
	}, func(*palette) []string { return nil }},
	"changes": {func(p *palette, name string) error {
		if _, ok := p.Session.Registry.Lookup(name); !ok {
			return fmt.Errorf("unknown record kind: %q", name)
		}
		return nil
	}, func(p *palette) []string {
		return record.Texts(p.Session.Registry.Kinds(), func(kind *record.Kind) string { return kind.Name })
	}},
	"bill": {func(_ *palette, text string) error { return records.CheckBill(text) }, func(*palette) []string { return nil }},
}

// commandNames returns the names of all commands.
func commandNames() string {
	return strings.Join(record.Texts(commands(), func(v command) string { return v.name }), " ")
}

// input returns the input for commands, record kinds, tabs, views and profiles.
func (p *palette) input() *ui.InputLine {
	l := ui.NewInputLine(p.Host, ui.CommandHistory, ":", "")
	l.Help = "record kind with conditions, tab, view, @profile or a command"
	l.Words = commandNames()
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
	for _, v := range commands() {
		if v.name == word {
			if takes := arguments[word]; takes.check != nil {
				if err := takes.check(p, strings.TrimSpace(argument)); err != nil {
					return nil, err
				}
			}
			return func() tea.Cmd { return v.run(p, strings.TrimSpace(argument)) }, nil
		}
	}
	matches := p.matches(word)
	hasNoScreen := word == "users" || word == "keys"
	isName := len(matches) > 0 && strings.EqualFold(matches[0].name, word)
	if hasNoScreen && !isName {
		return nil, fmt.Errorf("%[1]s have no screen; use whctl %[1]s", word)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("unknown command, record kind or view: %s; in Records, R fetches new kinds", word)
	}
	best := matches[0]
	if best.kind == nil {
		argument = strings.TrimSpace(argument)
		if argument != "" && !strings.HasPrefix(word, "@") {
			return nil, fmt.Errorf("%s cannot be opened with conditions: %q", best.name, argument)
		}
		return func() tea.Cmd { return best.run() }, nil
	}
	filters, err := browse.ParseFilters(p.Session.Now, best.kind, argument)
	if err != nil {
		return nil, err
	}
	typed := browse.ParseTyped(p.Session.Now, best.kind, argument)
	return func() tea.Cmd { return p.Host.Open(ui.RecordsTarget{Kind: best.kind, Filters: filters, Typed: typed}) }, nil
}

// target is a possible meaning of a word.
type target struct {
	name string
	help string
	kind *record.Kind // nil for other targets
	run  func() tea.Cmd
}

func (p *palette) targets() []target {
	var all []target
	for _, kind := range p.Session.Registry.Kinds() {
		all = append(all, target{name: kind.Name, help: kind.Summary, kind: kind})
	}
	for i, name := range shell.TabNames {
		all = append(all, target{name: name, help: "tab", run: func() tea.Cmd { return p.tabs.Open(i) }})
	}
	for _, v := range p.Session.State.Views {
		all = append(all, target{name: v.Name, help: "saved view of " + v.Record, run: func() tea.Cmd {
			return p.Host.Open(ui.ViewTarget{View: v})
		}})
	}
	for _, profile := range p.switcher.Profiles() {
		all = append(all, target{
			name: "@" + profile.Name,
			help: "switch to " + ui.ShortURL(profile.URL),
			run: func() tea.Cmd {
				return p.switcher.SwitchTo(profile.Name)
			},
		})
	}
	for _, c := range commands() {
		all = append(all, target{name: c.name, help: c.help, run: func() tea.Cmd { return c.run(p, "") }})
	}
	return all
}

// matches returns the targets that match a word: exact names first, then prefixes,
// substrings and subsequences, and last the kinds with the word in their summary.
func (p *palette) matches(word string) []target {
	word = strings.ToLower(word)
	rank := func(t target) int {
		name := strings.ToLower(t.name)
		helpContains := t.kind != nil && strings.Contains(strings.ToLower(t.help), word)
		switch {
		case name == word:
			return 0
		case strings.HasPrefix(name, word):
			return 1
		case strings.Contains(name, word):
			return 2
		case isSubsequence(name, word):
			return 3
		case helpContains && len(word) > 2:
			return 4
		}
		return 5
	}
	matches := slices.DeleteFunc(p.targets(), func(t target) bool { return rank(t) == 5 })
	slices.SortStableFunc(matches, func(x, y target) int { return rank(x) - rank(y) })
	return matches
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
	matches := p.matches(word)
	if takes, ok := arguments[word]; ok && hasArgument {
		return suggestWords(word, argument, takes.completions(p))
	}
	if hasArgument {
		if len(matches) == 0 || matches[0].kind == nil {
			return nil
		}
		list := browse.SuggestFields(matches[0].kind, argument)
		for i := range list {
			list[i].Text = word + " " + list[i].Text
		}
		return list
	}
	var list []ui.Suggestion
	for _, t := range matches {
		list = append(list, ui.Suggestion{Text: t.name, Name: t.name, Help: t.help})
	}
	return list
}

// suggestWords returns completions of the argument of a command.
func suggestWords(verb, argument string, words []string) []ui.Suggestion {
	var list []ui.Suggestion
	for _, word := range words {
		if strings.HasPrefix(word, argument) && word != argument {
			list = append(list, ui.Suggestion{Text: verb + " " + word, Name: word, Help: ""})
		}
	}
	return list
}

// checkViewName returns an error if a name is not a single word, or is already used by
// another target.
func (p *palette) checkViewName(name string) error {
	if name == "" {
		return errors.New("enter a name, such as :save failed-today")
	}
	if strings.ContainsAny(name, " @:\t") || len(name) > maxViewName {
		return fmt.Errorf("view names are one word without @ and :, at most %d characters", maxViewName)
	}
	for _, t := range p.targets() {
		if _, isView := p.Session.State.View(name); !isView && strings.EqualFold(t.name, name) {
			return fmt.Errorf("%s is already in use", name)
		}
	}
	return nil
}

// checkView returns an error if there is no view with a name.
func (p *palette) checkView(name string) error {
	if _, ok := p.Session.State.View(name); ok {
		return nil
	}
	if names := p.viewNames(); len(names) > 0 {
		return fmt.Errorf("enter the name of a view: %s", strings.Join(names, ", "))
	}
	return errors.New("no saved views; add one with :save NAME")
}

func (p *palette) viewNames() []string {
	return record.Texts(p.Session.State.Views, func(v state.View) string { return v.Name })
}

// saveView saves the screen in front as a view.
func (p *palette) saveView(name string) tea.Cmd {
	v, ok := p.Host.Front().(ui.Viewer)
	if !ok || v.AsView().Record == "" {
		p.Host.Notify(ui.Warning, "only lists of records and messages can be saved as a view")
		return nil
	}
	if m, ok := v.(*messages.List); ok && m.Query.Filter.Subscriber != "" {
		p.Host.Notify(ui.Warning, "a list of one subscriber cannot be saved: its SubscriberID is a secret")
		return nil
	}
	view := v.AsView()
	view.Name = name
	_, replaced := p.Session.State.View(name)
	p.Session.State.SetView(view)
	v.SetViewName(name)
	text := name + " saved: open it from Home or with :" + name
	if replaced {
		text = name + " replaced"
	}
	p.Host.Notify(ui.Info, text)
	return nil
}

// dropView deletes a view.
func (p *palette) dropView(name string) tea.Cmd {
	p.Session.State.DeleteView(name)
	p.Host.Notify(ui.Info, name+" deleted")
	return nil
}
