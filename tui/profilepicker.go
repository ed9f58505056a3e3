package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

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
		Note:        "Another profile: loaded rows and marks are lost.",
	}
	longest := 0
	for _, profile := range profiles {
		longest = max(longest, ansi.StringWidth(profile.Name))
	}
	for i, profile := range profiles {
		if profile.Name == s.Profile {
			p.At = i
		}
		p.Choices = append(p.Choices, ui.Choice{
			Spans:  profileSpans(s, profile, longest),
			Choose: func() tea.Cmd { return switcher.SwitchTo(profile.Name) },
		})
	}
	if len(profiles) == 0 {
		p.Note = "No profiles; add one with whctl profile create.   " +
			keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}

// profileSpans draws a profile: its name in nameWidth cells, its URL and its rights. The current
// profile is marked.
func profileSpans(s *ui.Session, profile session.Profile, nameWidth int) []theme.Span {
	mark := "  "
	if profile.Name == s.Profile {
		mark = s.Theme.Mark + " "
	}
	rights := ""
	if profile.ReadOnly {
		rights = "  read-only"
	} else if profile.Protected {
		rights = "  protected"
	}
	padding := strings.Repeat(" ", nameWidth-ansi.StringWidth(profile.Name))
	spans := []theme.Span{{Text: mark}}
	spans = append(spans, s.Theme.Profile(profile.Name, profile.Colour)...)
	return append(spans,
		theme.Span{Text: padding + ui.ShortURL(profile.URL)},
		theme.Span{Text: rights, Role: theme.Dim})
}
