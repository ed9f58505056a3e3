package messages

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Long texts are divided after a clause, unless that would leave more than half of a line blank.
func TestTextsAreDividedAfterClauses(t *testing.T) {
	for text, want := range map[string][]string{
		"no event with this key is stored: none was published, no subscription received it, or it was deleted": {
			"no event with this key is stored:",
			"none was published, no subscription received it,",
			"or it was deleted",
		},
		"held: its owner may no longer read the records of this event and of no other one": {
			"held: its owner may no longer read the records of",
			"this event and of no other one",
		},
		"at 2026-07-01 10:30:00, an average of 1.5 attempts for each of its messages": {
			"at 2026-07-01 10:30:00, an average of 1.5 attempts",
			"for each of its messages",
		},
		strings.Repeat("x", 60): {strings.Repeat("x", 50), strings.Repeat("x", 10)},
	} {
		line := timeline{session: &ui.Session{Theme: theme.New(theme.ASCII, theme.Mono)}}
		line.setSize(78, 20)
		line.set([]timelineItem{{id: "1", sign: "o", time: "14:02:07", label: "no message", text: text}})
		var got []string
		for _, l := range line.lines {
			got = append(got, l.left[len(l.left)-1].Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is divided into %q, want %q", text, got, want)
		}
	}
}
