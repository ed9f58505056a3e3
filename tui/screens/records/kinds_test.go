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
	if line := d.LineWith("IN_Colours"); !strings.HasSuffix(strings.TrimSpace(line), "-") {
		t.Errorf("%q", line)
	}
	d.Press(":", "'IN_Colours", "enter", "esc")
	d.Wait(3 * time.Minute)
	again := tuitest.Drive(t, c, o)
	again.Clock = d.Clock
	again.Press("2")
	for name, one := range map[string]*tuitest.Driver{"this session": d, "the next": again} {
		if line := one.LineWith("IN_Colours"); !strings.HasSuffix(strings.TrimSpace(line), "3m") {
			t.Errorf("in %s: %q", name, line)
		}
	}
	again.Press("/", "'bills of", "enter")
	again.WantText("Bills of materials", "[bills of]", "/ search")
	if strings.Contains(again.Text(), "IN_Colours") {
		t.Errorf("kinds that do not match are listed:\n%s", again.Text())
	}
}
