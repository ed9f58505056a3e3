package tui_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/tuitest"
)

// The light theme does not use yellow and cyan, which are illegible on a light
// background.
func TestLightThemeAvoidsPaleColours(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Appearance: tui.Appearance{Theme: theme.Light}})
	for _, tab := range []string{"1", "2", "3", "4", "5", "6"} {
		d.Press(tab)
		for _, pale := range []string{"33m", "36m"} {
			if strings.Contains(d.App.View(), pale) {
				t.Errorf("tab %s has %s:\n%q", tab, pale, d.App.View())
			}
		}
	}
}
