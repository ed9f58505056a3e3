package tui

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bizhook/whd/tui/ui"
)

// newForm asks who is to get an event, and where.
func (e *events) newForm(event string) ui.Overlay {
	f := subscriptionForm(e, "New subscription", event, func(values map[string]string) (string, error) {
		return e.meant(values[subscriberField])
	})
	who := &ui.Field{Name: subscriberField, Label: "Subscriber", Help: "whose program gets it", Input: ui.NewInput("")}
	if len(e.names) == 1 {
		for _, name := range e.names {
			who.Input.SetValue(name)
		}
	}
	who.Pick = e.pickNames
	f.Fields = append([]*ui.Field{who}, f.Fields...)
	return f
}

// meant finds a subscriber by its name, its id or the ends of it. Names that
// several have are refused.
func (e *events) meant(text string) (id string, err error) {
	if _, known := e.names[text]; known {
		return text, nil
	}
	var found, ends []string
	for _, id := range slices.Sorted(maps.Keys(e.names)) {
		if strings.EqualFold(e.names[id], text) || text == ui.ShortID(id) || text == e.SetViewName(id) {
			found, ends = append(found, id), append(ends, ui.ShortID(id))
		}
	}
	switch len(found) {
	case 0:
		return "", errors.New("there is no such subscriber")
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%d subscribers are called so; type the id of the one that is meant, or its ends: %s", len(found), strings.Join(ends, " or "))
}

// SetViewName is the name of a subscriber, with the ends of its id where others are
// called so too.
func (e *events) SetViewName(id string) string {
	for other, name := range e.names {
		if other != id && strings.EqualFold(name, e.names[id]) {
			return e.names[id] + " (" + ui.ShortID(id) + ")"
		}
	}
	return e.names[id]
}

// pickNames lists the subscribers whose name holds a text.
func (e *events) pickNames(text string) []ui.Suggestion {
	var names []string
	for id, name := range e.names {
		if strings.EqualFold(name, text) {
			return nil
		}
		names = append(names, e.SetViewName(id))
	}
	slices.Sort(names)
	var list []ui.Suggestion
	for _, name := range names {
		if strings.EqualFold(name, text) {
			return nil
		}
		if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			list = append(list, ui.Suggestion{Text: name, Name: name, Help: ""})
		}
	}
	return list
}
