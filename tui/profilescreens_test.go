package tui_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Screens with saved data: views on the home screen, and profiles.
func TestViewAndProfileGoldens(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		withProfiles := twoProfileOptions(t, i, i)
		withProfiles.Appearance = o.Appearance
		store, err := state.Open(withProfiles.State, "prod")
		if err != nil {
			t.Fatal(err)
		}
		store.SetView(state.View{
			Name:        "big-invoices",
			Record:      "SO_Totals",
			Arrangement: state.Arrangement{Where: []string{"InvoiceTotal>=50000"}},
		})
		store.SetView(state.View{Name: "failed", Record: ui.MessageRecord, Problems: true})
		if err := store.Write(); err != nil {
			t.Fatal(err)
		}
		d := tuitest.Drive(t, tuitest.Connect(t, i), withProfiles)
		d.AwaitLive()
		d.Press("R", "j")
		d.Golden("S01-home-views", appearance)
		d.Press("@")
		d.Golden("S00-profiles", appearance)
	})
}

// The addresses of profiles are aligned by the cells of their names.
func TestProfilesAreAlignedByCells(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Profiles: func() ([]tui.Profile, error) {
		return []tui.Profile{{Name: "größe", URL: "http://one.test"}, {Name: "世界", URL: "http://two.test"}}, nil
	}})
	d.Press("@")
	var columns []int
	for _, address := range []string{"one.test", "two.test"} {
		before, _, _ := strings.Cut(d.LineWith(address), address)
		columns = append(columns, ansi.StringWidth(before))
	}
	if columns[0] != columns[1] {
		t.Errorf("the addresses start in the columns %v, want the same:\n%s", columns, d.Text())
	}
}
