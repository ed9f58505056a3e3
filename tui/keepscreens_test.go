package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// The list of kinds says how long ago each was opened, in the next session too.
func TestOpenedKinds(t *testing.T) {
	c := connected(t, demoDaemon(t))
	o := Options{State: t.TempDir(), Profile: "prod"}
	d := drive(t, c, o)
	d.press("2")
	if line := lineWith(t, d, "IN_Colours"); !strings.HasSuffix(strings.TrimSpace(line), "-") {
		t.Errorf("%q", line)
	}
	d.press(":", "'IN_Colours", "enter", "esc")
	d.wait(3 * time.Minute)
	again := drive(t, c, o)
	again.clock = d.clock
	again.press("2")
	for name, one := range map[string]*driver{"this session": d, "the next": again} {
		if line := lineWith(t, one, "IN_Colours"); !strings.HasSuffix(strings.TrimSpace(line), "3m") {
			t.Errorf("in %s: %q", name, line)
		}
	}
	again.press("/", "'bills of", "enter")
	again.sees("Bills of materials", "[bills of]", "/ search")
	if strings.Contains(again.text(), "IN_Colours") {
		t.Errorf("others are listed too:\n%s", again.text())
	}
}

// What is kept, as it is seen: views on the first screen, profiles.
func TestKeptScreens(t *testing.T) {
	i := demoDaemon(t)
	forAppearances(t, func(t *testing.T, appearance string, o Options) {
		with := twoProfiles(t, i, i)
		with.Appearance.ASCII, with.Appearance.Theme = o.Appearance.ASCII, o.Appearance.Theme
		k, err := state.Open(with.State, "prod")
		if err != nil {
			t.Fatal(err)
		}
		k.SetView(state.View{Name: "big-invoices", Record: "SO_Totals", Arrangement: state.Arrangement{Where: []string{"InvoiceTotal>=50000"}}})
		k.SetView(state.View{Name: "failed", Record: ui.MessageRecord, Problems: true})
		if err := k.Write(); err != nil {
			t.Fatal(err)
		}
		d := drive(t, connected(t, i), with)
		d.awaitLive()
		d.press("R", "j")
		d.golden("S01-home-views", appearance)
		d.press("@")
		d.golden("S00-profiles", appearance)
	})
}
