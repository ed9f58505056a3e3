package tui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// Each form labels its keys with its own verb, in the hint line too.
func TestFormHintsNameTheVerb(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	for _, test := range []struct {
		keys []string
		does string
		try  bool
	}{
		{[]string{"3", "n"}, "create", false},
		{[]string{"3", "E"}, "change", false},
		{[]string{"3", "enter", "n"}, "create", true},
		{[]string{"3", "enter", "E"}, "change", true},
		{[]string{"5", "n"}, "create", true},
		{[]string{"2", "enter", "e"}, "export", false},
		{[]string{":", "'bill", "enter"}, "show", false},
		{[]string{":", "'login", "enter"}, "sign in", false},
	} {
		d.Press(test.keys...)
		lines := strings.Split(d.Text(), "\n")
		last, tries := lines[len(lines)-1], fmt.Sprintf("ctrl+t %s and test", test.does)
		key := "ctrl+s "
		if test.does == "export" {
			key = "enter "
		}
		if !strings.Contains(last, key+test.does+"  ") || strings.Contains(last, tries) != test.try {
			t.Errorf("%v: the hints are %q", test.keys, last)
		}
		d.WantText(key + test.does + "   ")
		d.Press("esc", "esc", "esc")
	}
}
