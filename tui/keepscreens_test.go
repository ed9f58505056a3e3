package tui_test

import (
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Screens with saved data: views on the home screen, and profiles.
func TestViewAndProfileScreens(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		with := twoProfileOptions(t, i, i)
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
		d := tuitest.Drive(t, tuitest.Connect(t, i), with)
		d.AwaitLive()
		d.Press("R", "j")
		d.Golden("S01-home-views", appearance)
		d.Press("@")
		d.Golden("S00-profiles", appearance)
	})
}
