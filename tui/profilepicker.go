package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// newProfilePicker returns the picker of profiles.
func newProfilePicker(h ui.Host, switcher *session.Switcher) ui.Overlay {
	s := h.CurrentSession()
	profiles := switcher.Profiles()
	p := &ui.Picker{HostSession: ui.NewHostSession(h), Title: "Profiles", Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " switch (loaded rows and marks are lost)   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " cancel"}
	longest := 0
	for _, one := range profiles {
		longest = max(longest, len(one.Name))
	}
	for i, one := range profiles {
		mark := "  "
		if one.Name == s.Profile {
			mark, p.At = s.Theme.Mark+" ", i
		}
		rights := ""
		switch {
		case one.ReadOnly:
			rights = "  read-only"
		case one.Protected:
			rights = "  protected"
		}
		spans := append([]theme.Span{{Text: mark}}, s.Theme.Profile(one.Name, one.Colour)...)
		p.Choices = append(p.Choices, ui.Choice{
			Spans:  append(spans, theme.Span{Text: strings.Repeat(" ", longest-len(one.Name)) + ui.ShortURL(one.URL)}, theme.Span{Text: rights, Role: theme.Dim}),
			Choose: func() tea.Cmd { return switcher.SwitchTo(one.Name) },
		})
	}
	if len(profiles) == 0 {
		p.Note = "No profiles; add one with whctl profile create.   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}
