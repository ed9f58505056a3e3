package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// messageRecord is the kind of views of messages.
const messageRecord = "Message"

// viewer is a screen that can be saved as a view.
type viewer interface {
	viewed() state.View
	called(name string) // the screen is the view of that name from now on
}

// viewNameMost is how long the name of a view may be.
const viewNameMost = 40

// checkViewName keeps names to what can be typed as one word, and to what means
// nothing else yet.
func (a *app) checkViewName(name string) error {
	switch {
	case name == "":
		return errors.New("type the name under which this is saved, such as :save failed-today")
	case strings.ContainsAny(name, " @:\t") || len(name) > viewNameMost:
		return fmt.Errorf("the name of a view is one word without @ and :, of at most %d letters", viewNameMost)
	}
	for _, t := range a.targets() {
		if _, isView := a.keeper.View(name); !isView && strings.EqualFold(t.name, name) {
			return fmt.Errorf("%s is something else already", name)
		}
	}
	return nil
}

// checkView wants the name of a view.
func (a *app) checkView(name string) error {
	if _, ok := a.keeper.View(name); ok {
		return nil
	}
	if names := a.viewNames(); len(names) > 0 {
		return fmt.Errorf("type the name of a view: %s", strings.Join(names, ", "))
	}
	return errors.New("there are no saved views yet: save NAME makes one")
}

func (a *app) viewNames() []string {
	var names []string
	for _, v := range a.keeper.Views {
		names = append(names, v.Name)
	}
	return names
}

// save keeps what is in front as a view.
func (a *app) save(name string) tea.Cmd {
	v, ok := a.front().(viewer)
	if !ok {
		a.tell(ui.Warning, "rows and messages can be saved as a view, this cannot")
		return nil
	}
	if m, ok := v.(*messages); ok && m.filter.subscriber != "" {
		a.tell(ui.Warning, "no view of one subscriber: it would keep the SubscriberID, which is a key")
		return nil
	}
	one := v.viewed()
	one.Name = name
	_, was := a.keeper.View(name)
	a.keeper.SetView(one)
	v.called(name)
	text := name + " is saved: it stands on Home, and :" + name + " opens it"
	if was {
		text = name + " is saved anew"
	}
	a.tell(ui.Info, text)
	return nil
}

// dropView forgets a view.
func (a *app) dropView(name string) tea.Cmd {
	a.keeper.DropView(name)
	a.tell(ui.Info, name+" is not a view any more")
	return nil
}

// openView opens a view.
func (a *app) openView(v state.View) tea.Cmd {
	if v.Record == messageRecord {
		m := newMessages(a, messageFilter{subscription: v.Subscription, label: v.Label, problems: v.Problems, undelivered: v.Undelivered}).(*messages)
		m.filter.conditions, m.typed = a.recallFilters(messageKind(), v.Where)
		m.called(v.Name)
		m.arrange(v.Arrangement)
		m.order = messageOrder(v.OrderBy)
		return a.pushIn(messagesTab, m)
	}
	kind, ok := a.kindNamed(v.Record)
	if !ok {
		a.tell(ui.Warning, v.Name+": there is no record "+v.Record+" any more")
		return nil
	}
	b := newBrowser(a, kind, nil)
	b.arrange(v.Arrangement)
	b.called(v.Name)
	return a.pushIn(recordsTab, b)
}

// kindNamed finds a kind, also of what the service keeps itself.
func (a *app) kindNamed(name string) (*record.Kind, bool) {
	if kind, ok := a.options.Registry.Lookup(name); ok {
		return kind, true
	}
	return record.System().Lookup(name)
}

// recallFilters reads conditions that were kept. What is none any more is left
// out, with a word.
func (a *app) recallFilters(kind *record.Kind, texts []string) ([]client.Filter, typedConditions) {
	var all []client.Filter
	typed := make(typedConditions)
	for _, text := range texts {
		one, err := filter.Reader{Kind: kind, Now: a.now}.Parse(text)
		if err == nil {
			all, err = filter.Append(all, one)
		}
		if err != nil {
			a.tell(ui.Warning, fmt.Sprintf("the saved filter %q of %s does not hold any more: %s", text, kind.Name, err))
			continue
		}
		typed[one.Member()] = text
	}
	return all, typed
}

// typedConditions are conditions as they were typed, by the members that they
// make: what says today is to mean the day when it is read again.
type typedConditions map[string]string

// note remembers how conditions were typed.
func (a *app) note(kind *record.Kind, text string) typedConditions {
	typed := make(typedConditions)
	f := filter.Reader{Kind: kind, Now: a.now}
	for _, part := range f.Split(text) {
		if one, err := f.Parse(part); err == nil {
			typed[one.Member()] = part
		}
	}
	return typed
}

// texts are filters as they were typed, or as they can be.
func (t typedConditions) texts(a *app, kind *record.Kind, filters []client.Filter) []string {
	var texts []string
	for _, f := range filters {
		text := filter.Text(f)
		if typed := t[f.Member()]; typed != "" {
			if one, err := (filter.Reader{Kind: kind, Now: a.now}).Parse(typed); err == nil && filter.Text(one) == text {
				text = typed
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// viewQuery asks for the rows of a view, false where it makes no sense any more.
func (a *app) viewQuery(v state.View) (client.Query, bool) {
	kind, ok := a.kindNamed(v.Record)
	if !ok {
		return client.Query{}, false
	}
	texts := v.Where
	if c, limits := (messageFilter{problems: v.Problems, undelivered: v.Undelivered}).standing().condition(); limits {
		texts = append(slices.Clone(texts), filter.Text(c))
	}
	if v.Subscription != "" {
		texts = append(slices.Clone(texts), "SubscriptionID="+v.Subscription)
	}
	filters, err := filter.Reader{Kind: kind, Now: a.now}.ParseAll(texts)
	return client.Query{Kind: kind, Where: filters, Strict: true}, err == nil
}

// orderOf is an order as it is kept.
func orderOf(s grid.Sort) string {
	if s.Descending {
		return "-" + s.Column
	}
	return s.Column
}

// sortOf is an order that was kept.
func sortOf(text string) grid.Sort {
	column, down := strings.CutPrefix(text, "-")
	return grid.Sort{Column: column, Descending: down}
}
