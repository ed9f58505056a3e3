package tui

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bizhook/whd/tui/screens/messages"

	"github.com/bizhook/whd/tui/screens/requests"

	"github.com/bizhook/whd/tui/browse"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

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
		if _, isView := a.State.View(name); !isView && strings.EqualFold(t.name, name) {
			return fmt.Errorf("%s is something else already", name)
		}
	}
	return nil
}

// checkView wants the name of a view.
func (a *app) checkView(name string) error {
	if _, ok := a.State.View(name); ok {
		return nil
	}
	if names := a.viewNames(); len(names) > 0 {
		return fmt.Errorf("type the name of a view: %s", strings.Join(names, ", "))
	}
	return errors.New("there are no saved views yet: save NAME makes one")
}

func (a *app) viewNames() []string {
	var names []string
	for _, v := range a.State.Views {
		names = append(names, v.Name)
	}
	return names
}

// save keeps what is in front as a view.
func (a *app) save(name string) tea.Cmd {
	v, ok := a.Front().(ui.Viewer)
	if !ok {
		a.Tell(ui.Warning, "rows and messages can be saved as a view, this cannot")
		return nil
	}
	if m, ok := v.(*messages.List); ok && m.Filter.Subscriber != "" {
		a.Tell(ui.Warning, "no view of one subscriber: it would keep the SubscriberID, which is a key")
		return nil
	}
	one := v.AsView()
	one.Name = name
	_, was := a.State.View(name)
	a.State.SetView(one)
	v.SetViewName(name)
	text := name + " is saved: it stands on Home, and :" + name + " opens it"
	if was {
		text = name + " is saved anew"
	}
	a.Tell(ui.Info, text)
	return nil
}

// dropView forgets a view.
func (a *app) dropView(name string) tea.Cmd {
	a.State.DropView(name)
	a.Tell(ui.Info, name+" is not a view any more")
	return nil
}

// openView opens a view.
func (a *app) openView(v state.View) tea.Cmd {
	if v.Record == ui.MessageRecord {
		m := messages.New(a, ui.MessageFilter{Subscription: v.Subscription, Label: v.Label, Problems: v.Problems, Undelivered: v.Undelivered})
		m.Filter.Conditions, m.Typed = browse.RecallFilters(m.Dialog, ui.MessageKind(), v.Where)
		m.SetViewName(v.Name)
		m.Arrange(v.Arrangement)
		m.Order = messages.MessageOrder(v.OrderBy)
		return a.pushIn(messagesTab, m)
	}
	kind, ok := browse.KindNamed(a.Registry, v.Record)
	if !ok {
		a.Tell(ui.Warning, v.Name+": there is no record "+v.Record+" any more")
		return nil
	}
	b := requests.NewRows(a, "")
	if kind.Name != requests.Kind {
		b = browse.New(a, kind, nil, browse.Options{})
	}
	b.Arrange(v.Arrangement)
	b.SetViewName(v.Name)
	return a.pushIn(recordsTab, b)
}
