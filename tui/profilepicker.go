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
	p := &ui.Picker{
		HostSession: ui.NewHostSession(h),
		Title:       "Profiles",
		Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " switch (loaded rows and marks are lost)   " +
			keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " cancel",
	}
	longest := 0
	for _, profile := range profiles {
		longest = max(longest, len(profile.Name))
	}
	for i, profile := range profiles {
		mark := "  "
		if profile.Name == s.Profile {
			mark, p.At = s.Theme.Mark+" ", i
		}
		rights := ""
		if profile.ReadOnly {
			rights = "  read-only"
		} else if profile.Protected {
			rights = "  protected"
		}
		spans := append([]theme.Span{{Text: mark}}, s.Theme.Profile(profile.Name, profile.Colour)...)
		p.Choices = append(p.Choices, ui.Choice{
			Spans: append(spans,
				theme.Span{Text: strings.Repeat(" ", longest-len(profile.Name)) + ui.ShortURL(profile.URL)},
				theme.Span{Text: rights, Role: theme.Dim}),
			Choose: func() tea.Cmd { return switcher.SwitchTo(profile.Name) },
		})
	}
	if len(profiles) == 0 {
		p.Note = "No profiles; add one with whctl profile create.   " +
			keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}
