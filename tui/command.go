package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/ui"
)

// palette is what can be done by its name.
type palette struct{ *App }

// verb is something that can be done by its name.
type verb struct {
	name string
	help string
	run  func(p *palette, rest string) tea.Cmd
}

// verbs is the only list of them.
func verbs() []verb {
	return []verb{
		{"help", "the keys of what is on the screen", func(p *palette, _ string) tea.Cmd { p.over = p.help(); return nil }},
		{"cli", "the whctl command that shows the same", func(p *palette, _ string) tea.Cmd { p.over = p.equivalent(); return nil }},
		{"rw", "allow changes for this session", func(p *palette, rest string) tea.Cmd { return p.allow(rest) }},
		{"ro", "forbid changes for this session", func(p *palette, _ string) tea.Cmd { return p.forbid() }},
		{"save", "keep these rows as a view: save NAME", func(p *palette, name string) tea.Cmd { return p.save(name) }},
		{"drop", "forget a view: drop NAME", func(p *palette, name string) tea.Cmd { return p.dropView(name) }},
		{"profiles", "switch to another profile", func(p *palette, _ string) tea.Cmd { return p.listProfiles(true) }},
		{"errors", "the errors so far", func(p *palette, _ string) tea.Cmd { p.over = newErrors(p.App, &p.toasts); return nil }},
		{"jobs", "the exports of this session", func(p *palette, _ string) tea.Cmd { p.over = p.jobs.list(); return nil }},
		{"bill", "custom fields of a bill: BILL/STAGE, or BILL/STAGE/SETTING", func(p *palette, rest string) tea.Cmd { return records.NewBill(p.App).Open(rest) }},
		{"refresh", "fetch again", func(p *palette, _ string) tea.Cmd { return p.refresh() }},
		{"login", "sign in", func(p *palette, _ string) tea.Cmd { p.over = p.App.login(); return nil }},
		{"quit", "leave", func(p *palette, _ string) tea.Cmd { return p.quit() }},
	}
}

// viewNameMost is how long the name of a view may be.
const viewNameMost = 40

// operand is what some verbs take, beside what runs them.
type operand struct {
	check func(p *palette, rest string) error
	words func(p *palette) []string // what it can be
}

var operands = map[string]operand{
	"save": {(*palette).checkViewName, (*palette).viewNames},
	"drop": {(*palette).checkView, (*palette).viewNames},
	"bill": {func(_ *palette, text string) error { return records.CheckBill(text) }, func(*palette) []string { return nil }},
}

// verbNames lists them for people.
func verbNames() string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return strings.Join(names, " ")
}

// open takes a record kind with conditions, a tab or a verb.
func (p *palette) open() *ui.InputLine {
	l := ui.NewInputLine(p.App, ui.CommandHistory, ":", "")
	l.Help = "a kind with conditions, tab, view, @profile or these words"
	l.Words = verbNames()
	l.Suggest = p.suggestCommands
	l.Check = func(text string) error {
		_, err := p.command(text)
		return err
	}
	l.Accept = func(text string) tea.Cmd {
		run, err := p.command(text)
		if err != nil || run == nil {
			return nil
		}
		return run()
	}
	return l
}

// command finds what a line means; nil for an empty one.
func (p *palette) command(text string) (func() tea.Cmd, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if word == "" {
		return nil, nil
	}
	for _, v := range verbs() {
		if v.name == word {
			if takes := operands[word]; takes.check != nil {
				if err := takes.check(p, strings.TrimSpace(rest)); err != nil {
					return nil, err
				}
			}
			return func() tea.Cmd { return v.run(p, strings.TrimSpace(rest)) }, nil
		}
	}
	matches := p.matches(word)
	if len(matches) == 0 {
		return nil, fmt.Errorf("nothing is called %s", word)
	}
	best := matches[0]
	if best.kind == nil {
		return func() tea.Cmd { return best.run() }, nil
	}
	filters, err := browse.ParseFilters(p.Now, best.kind, rest)
	if err != nil {
		return nil, err
	}
	typed := browse.ParseTyped(p.Now, best.kind, rest)
	return func() tea.Cmd { return p.Open(ui.RecordsTarget{Kind: best.kind, Filters: filters, Typed: typed}) }, nil
}

// target is what a word can mean.
type target struct {
	name string
	help string
	kind *record.Kind // nil for others
	run  func() tea.Cmd
}

func (p *palette) targets() []target {
	var all []target
	for _, kind := range p.Registry.Kinds() {
		all = append(all, target{name: kind.Name, help: kind.Summary, kind: kind})
	}
	for i, name := range tabNames {
		all = append(all, target{name: name, help: "tab", run: func() tea.Cmd { return p.openTab(i) }})
	}
	for _, v := range p.State.Views {
		all = append(all, target{name: v.Name, help: "saved view of " + v.Record, run: func() tea.Cmd { return p.openView(v) }})
	}
	for _, one := range p.profiles {
		all = append(all, target{name: "@" + one.Name, help: "switch to " + ui.ShortURL(one.URL), run: func() tea.Cmd { return p.switchTo(one.Name) }})
	}
	for _, v := range verbs() {
		all = append(all, target{name: v.name, help: v.help, run: func() tea.Cmd { return v.run(p, "") }})
	}
	return all
}

// matches lists what a word can mean: whole names first, then beginnings, then
// parts, then letters in their order.
func (p *palette) matches(word string) []target {
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
	found := slices.DeleteFunc(p.targets(), func(t target) bool { return rank(t) == 4 })
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
func (p *palette) suggestCommands(text string) []ui.Suggestion {
	word, rest, more := strings.Cut(strings.TrimLeft(text, " "), " ")
	matches := p.matches(word)
	if takes, ok := operands[word]; ok && more {
		return suggestWords(word, rest, takes.words(p))
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

// checkViewName keeps names to what can be typed as one word, and to what means
// nothing else yet.
func (p *palette) checkViewName(name string) error {
	switch {
	case name == "":
		return errors.New("type the name under which this is saved, such as :save failed-today")
	case strings.ContainsAny(name, " @:\t") || len(name) > viewNameMost:
		return fmt.Errorf("the name of a view is one word without @ and :, of at most %d letters", viewNameMost)
	}
	for _, t := range p.targets() {
		if _, isView := p.State.View(name); !isView && strings.EqualFold(t.name, name) {
			return fmt.Errorf("%s is something else already", name)
		}
	}
	return nil
}

// checkView wants the name of a view.
func (p *palette) checkView(name string) error {
	if _, ok := p.State.View(name); ok {
		return nil
	}
	if names := p.viewNames(); len(names) > 0 {
		return fmt.Errorf("type the name of a view: %s", strings.Join(names, ", "))
	}
	return errors.New("there are no saved views yet: save NAME makes one")
}

func (p *palette) viewNames() []string {
	var names []string
	for _, v := range p.State.Views {
		names = append(names, v.Name)
	}
	return names
}

// save keeps what is in front as a view.
func (p *palette) save(name string) tea.Cmd {
	v, ok := p.Front().(ui.Viewer)
	if !ok {
		p.Notify(ui.Warning, "rows and messages can be saved as a view, this cannot")
		return nil
	}
	if m, ok := v.(*messages.List); ok && m.Filter.Subscriber != "" {
		p.Notify(ui.Warning, "no view of one subscriber: it would keep the SubscriberID, which is a key")
		return nil
	}
	one := v.AsView()
	one.Name = name
	_, was := p.State.View(name)
	p.State.SetView(one)
	v.SetViewName(name)
	text := name + " is saved: it stands on Home, and :" + name + " opens it"
	if was {
		text = name + " is saved anew"
	}
	p.Notify(ui.Info, text)
	return nil
}

// dropView forgets a view.
func (p *palette) dropView(name string) tea.Cmd {
	p.State.DeleteView(name)
	p.Notify(ui.Info, name+" is not a view any more")
	return nil
}
