package tui

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/tui/ui"
)

// maxLastUsed is the maximum number of inputs that are listed as last used.
const maxLastUsed = 5

// readHistory finds out when each target was used last. A part of a name stands for the target that
// was its best match at that time.
func (p *palette) readHistory() {
	p.lastUse = make(map[string]int)
	for i, text := range p.session.History[ui.CommandHistory] {
		if used, ok := p.targetOf(text); ok {
			p.lastUse[used.name] = i + 1
		}
	}
}

// targetOf returns the target of an input, false if it cannot be entered now.
func (p *palette) targetOf(text string) (target, bool) {
	run, err := p.parse(text)
	if err != nil || run == nil {
		return target{}, false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return p.matches(word)[0], true
}

// groups returns all targets, for the list below an empty input.
func (p *palette) groups() []ui.SuggestionGroup {
	commands := newGroup("Commands", commandTargets())
	commands.Compact = true
	return []ui.SuggestionGroup{
		{Title: "Last used", Suggestions: p.lastUsed()},
		newGroup("Tabs", p.tabTargets()),
		commands,
		newGroup("Views", p.viewTargets()),
		newGroup("Profiles", p.profileTargets()),
		newGroup("Records", p.kindsByUse()),
	}
}

func newGroup(title string, targets []target) ui.SuggestionGroup {
	group := ui.SuggestionGroup{Title: title}
	for _, t := range targets {
		group.Suggestions = append(group.Suggestions, t.suggestion())
	}
	return group
}

// lastUsed returns the inputs that were used last, the newest first. The key that completes the
// first one must not prepare to quit.
func (p *palette) lastUsed() []ui.Suggestion {
	var list []ui.Suggestion
	for _, text := range slices.Backward(p.session.History[ui.CommandHistory]) {
		isListed := func(s ui.Suggestion) bool { return s.Text == text }
		used, ok := p.targetOf(text)
		if !ok || used.name == quitCommand || slices.ContainsFunc(list, isListed) {
			continue
		}
		list = append(list, ui.Suggestion{Text: text, Name: text, Help: used.help, Key: used.key})
		if len(list) == maxLastUsed {
			break
		}
	}
	return list
}

// kindsByUse returns the record kinds, those that were opened last first.
func (p *palette) kindsByUse() []target {
	targets := p.kindTargets()
	slices.SortStableFunc(targets, func(x, y target) int {
		opened := p.session.State.Opened
		return opened[y.name].Compare(opened[x.name])
	})
	return targets
}
