package tui

import (
	"strings"
	"testing"
)

// Where there is no room, the way here is cut before what one looks at.
func TestCrumbsGiveWay(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("3", "enter", "down", "enter", "enter")
	d.resize(120, 24)
	d.sees("Subscribers › ", " › Messages › ")
	d.resize(70, 24)
	line := strings.Split(d.text(), "\n")[2]
	for _, want := range []string{" … › ", "[debtor.updated]", "[~ RETRY]", "[try 1/3]"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %q", want, line)
		}
	}
	if strings.Contains(line, "Subscribers") || strings.Count(line, "…") != 1 {
		t.Errorf("%q", line)
	}
	d.checkScreen()
}

// The zone is told where times are.
func TestZoneIsTold(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	if first := strings.Split(d.text(), "\n")[0]; strings.Contains(first, "UTC") {
		t.Errorf("%q", first)
	}
	d.press("t", "t")
	if first := strings.Split(d.text(), "\n")[0]; !strings.HasSuffix(strings.TrimSpace(first), " UTC") {
		t.Errorf("%q", first)
	}
}
