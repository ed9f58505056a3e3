package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/tui/screens/records"

	"github.com/bizhook/whd/tui/browse"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/ui"
)

// verb is something that can be done by its name.
type verb struct {
	name string
	help string
	run  func(a *app, rest string) tea.Cmd
}

// verbs is the only list of them.
func verbs() []verb {
	return []verb{
		{"help", "the keys of what is on the screen", func(a *app, _ string) tea.Cmd { a.over = newHelp(a); return nil }},
		{"cli", "the whctl command that shows the same", func(a *app, _ string) tea.Cmd { a.over = newTwin(a, a.Front().Equivalent()); return nil }},
		{"rw", "allow changes for this session", func(a *app, rest string) tea.Cmd { return a.allow(rest) }},
		{"ro", "forbid changes for this session", func(a *app, _ string) tea.Cmd { return a.forbid() }},
		{"save", "keep these rows as a view: save NAME", func(a *app, name string) tea.Cmd { return a.save(name) }},
		{"drop", "forget a view: drop NAME", func(a *app, name string) tea.Cmd { return a.dropView(name) }},
		{"profiles", "switch to another profile", func(a *app, _ string) tea.Cmd { return a.listProfiles(true) }},
		{"errors", "the errors so far", func(a *app, _ string) tea.Cmd { a.over = newErrors(a); return nil }},
		{"jobs", "the exports of this session", func(a *app, _ string) tea.Cmd { a.over = newJobList(a); return nil }},
		{"bill", "custom fields of a bill: BILL/STAGE, or BILL/STAGE/SETTING", func(a *app, rest string) tea.Cmd { return records.NewBill(a).Open(rest) }},
		{"refresh", "fetch again", func(a *app, _ string) tea.Cmd { return a.refresh() }},
		{"login", "sign in", func(a *app, _ string) tea.Cmd { a.over = newLogin(a); return nil }},
		{"quit", "leave", func(a *app, _ string) tea.Cmd { return a.quit() }},
	}
}

// operand is what some verbs take, beside what runs them.
type operand struct {
	check func(a *app, rest string) error
	words func(a *app) []string // what it can be
}

var operands = map[string]operand{
	"save": {(*app).checkViewName, (*app).viewNames},
	"drop": {(*app).checkView, (*app).viewNames},
	"bill": {func(_ *app, text string) error { return records.CheckBill(text) }, func(*app) []string { return nil }},
}

// verbNames lists them for people.
func verbNames() string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return strings.Join(names, " ")
}

// newCommandLine takes a record kind with conditions, a tab or a verb.
func newCommandLine(a *app) *ui.Line {
	l := ui.NewLine(a, ui.CommandHistory, ":", "")
	l.Help = "a kind with conditions, tab, view, @profile or these words"
	l.Words = verbNames()
	l.Suggest = a.suggestCommands
	l.Check = func(text string) error {
		_, err := a.command(text)
		return err
	}
	l.Accept = func(text string) tea.Cmd {
		run, err := a.command(text)
		if err != nil || run == nil {
			return nil
		}
		return run()
	}
	return l
}

// command finds what a line means; nil for an empty one.
func (a *app) command(text string) (func() tea.Cmd, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if word == "" {
		return nil, nil
	}
	for _, v := range verbs() {
		if v.name == word {
			if takes := operands[word]; takes.check != nil {
				if err := takes.check(a, strings.TrimSpace(rest)); err != nil {
					return nil, err
				}
			}
			return func() tea.Cmd { return v.run(a, strings.TrimSpace(rest)) }, nil
		}
	}
	matches := a.matches(word)
	if len(matches) == 0 {
		return nil, fmt.Errorf("nothing is called %s", word)
	}
	best := matches[0]
	if best.kind == nil {
		return func() tea.Cmd { return best.run() }, nil
	}
	filters, err := browse.ReadFilters(a.Now, best.kind, rest)
	if err != nil {
		return nil, err
	}
	typed := browse.NoteTyped(a.Now, best.kind, rest)
	return func() tea.Cmd { return a.Open(ui.RecordsTarget{Kind: best.kind, Filters: filters, Typed: typed}) }, nil
}

// target is what a word can mean.
type target struct {
	name string
	help string
	kind *record.Kind // nil for others
	run  func() tea.Cmd
}

func (a *app) targets() []target {
	var all []target
	for _, kind := range a.Registry.Kinds() {
		all = append(all, target{name: kind.Name, help: kind.Summary, kind: kind})
	}
	for i, name := range tabNames {
		all = append(all, target{name: name, help: "tab", run: func() tea.Cmd { return a.openTab(i) }})
	}
	for _, v := range a.State.Views {
		all = append(all, target{name: v.Name, help: "saved view of " + v.Record, run: func() tea.Cmd { return a.openView(v) }})
	}
	for _, p := range a.profiles {
		all = append(all, target{name: "@" + p.Name, help: "switch to " + ui.ShortURL(p.URL), run: func() tea.Cmd { return a.switchTo(p.Name) }})
	}
	for _, v := range verbs() {
		all = append(all, target{name: v.name, help: v.help, run: func() tea.Cmd { return v.run(a, "") }})
	}
	return all
}

// matches lists what a word can mean: whole names first, then beginnings, then
// parts, then letters in their order.
func (a *app) matches(word string) []target {
	word = strings.ToLower(word)
	rank := func(t target) int {
		name := strings.ToLower(t.name)
		switch {
		case name == word:
			return 0
		case strings.HasPrefix(name, word):
			return 1
		case strings.Contains(name, word):
			return 2
		case inOrder(name, word):
			return 3
		}
		return 4
	}
	found := slices.DeleteFunc(a.targets(), func(t target) bool { return rank(t) == 4 })
	slices.SortStableFunc(found, func(x, y target) int { return rank(x) - rank(y) })
	return found
}

// inOrder reports whether the letters of word stand in name in their order.
func inOrder(name, word string) bool {
	for _, r := range word {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}

// suggestCommands lists what a line could become: names, and the fields of a
// kind behind its name.
func (a *app) suggestCommands(text string) []ui.Suggestion {
	word, rest, more := strings.Cut(strings.TrimLeft(text, " "), " ")
	matches := a.matches(word)
	if takes, ok := operands[word]; ok && more {
		return suggestWords(word, rest, takes.words(a))
	}
	if more {
		if len(matches) == 0 || matches[0].kind == nil {
			return nil
		}
		list := browse.SuggestFields(matches[0].kind, rest)
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

// suggestWords completes what a verb takes.
func suggestWords(verb, rest string, words []string) []ui.Suggestion {
	var list []ui.Suggestion
	for _, word := range words {
		if strings.HasPrefix(word, rest) && word != rest {
			list = append(list, ui.Suggestion{Text: verb + " " + word, Name: word, Help: ""})
		}
	}
	return list
}

// forbid begins the read-only mode, which stays with the profile.
func (a *app) forbid() tea.Cmd {
	a.ReadOnly, a.locked[a.Profile] = true, true
	a.forbidden++
	a.Tell(ui.Info, "nothing can be changed now (:rw lifts it)")
	return nil
}

// allow lifts the read-only mode. Of a protected profile its name has to be
// typed.
func (a *app) allow(name string) tea.Cmd {
	switch {
	case !a.ReadOnly:
		a.Tell(ui.Info, "changes are allowed already")
	case a.options.Unlock == nil:
		a.Tell(ui.Warning, "this session can only read; start whctl tui without --read-only")
	case a.Protected && name != a.Profile:
		a.Tell(ui.Warning, "the profile is protected: type :rw "+a.Profile)
	default:
		return a.unlock()
	}
	return nil
}

// writeState writes down what has changed since the last time.
func (a *app) writeState() tea.Cmd {
	k := a.State
	if !k.Due() {
		return nil
	}
	return func() tea.Msg {
		err := k.Write()
		if told := k.Fails(err != nil); err != nil && !told {
			return keptMsg{reply{err: err}}
		}
		return nil
	}
}
