package records_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// The time since a kind was opened is shown, and it is kept across sessions.
func TestKindsShowTimeSinceOpened(t *testing.T) {
	c := tuitest.Connect(t, tuitest.DemoDaemon(t))
	o := tui.Options{State: t.TempDir(), Profile: "prod"}
	d := tuitest.Drive(t, c, o)
	d.Press("2")
	if line := d.LineWith("IN_Colours"); !strings.HasSuffix(strings.Trim(line, " │"), "–") {
		t.Errorf("before the kind was opened, its line is %q, want – at its end", line)
	}
	d.Press(":", "'IN_Colours", "enter", "esc")
	d.Wait(3 * time.Minute)
	restarted := tuitest.Drive(t, c, o)
	restarted.Clock = d.Clock
	restarted.Press("2")
	for name, driver := range map[string]*tuitest.Driver{"this session": d, "the next session": restarted} {
		if line := driver.LineWith("IN_Colours"); !strings.HasSuffix(strings.Trim(line, " │"), "3m") {
			t.Errorf("in %s, the line of the kind is %q, want 3m at its end", name, line)
		}
	}
	restarted.Press("/", "'bills of", "enter")
	restarted.WantText("Bills of materials", "[bills of]", "/ search")
	restarted.WantNoText("IN_Colours")
}
