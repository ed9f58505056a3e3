package tui_test

import (
	"testing"

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
