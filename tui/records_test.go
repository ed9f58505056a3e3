package tui

import (
	"errors"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/export"
)

// Screens of records, over the demo records of a real daemon.
func TestRecordScreens(t *testing.T) {
	i := daemontest.Start(t, "--demo") // its own: how many rows there are is shown
	c := connected(t, i)
	forAppearances(t, func(t *testing.T, appearance string, o Options) {
		o.Downloads = "/home/jsmith/Downloads"
		d := drive(t, c, o)
		d.awaitLive()
		d.press("2")
		d.golden("S02-records", appearance)
		d.press(":", "'so_tot")
		d.golden("S12-palette", appearance)
		d.press("enter", "l", "s", "s", "j", "space", "j", "space", "k")
		d.golden("S03-grid", appearance)
		d.press("/", "'InvoiceTotal>=1000  Invoi")
		d.golden("S04-filter", appearance)
		d.press("backspace", "backspace", "backspace", "backspace", "backspace", "'InvoiceID^=D106", "enter")
		d.sees("[InvoiceTotal>=1000]  [InvoiceID^=D106]", "of 527")
		d.press("enter")
		d.golden("S05-record", appearance)
		d.press("tab")
		d.golden("S05-record-json", appearance)
		d.press("tab")
		d.golden("S05-record-request", appearance)
		d.press("esc", "C", "j", "j", "space")
		d.golden("S06-columns", appearance)
		d.press("enter")
		d.sees("cols 1-5 of 7")
		d.press("?")
		d.golden("S00-help", appearance)
		d.press("esc", "x")
		d.golden("S00-actions", appearance)
		d.press("esc", "c")
		d.golden("S00-twin", appearance)
		d.press("esc", "e")
		d.golden("S00-export", appearance)
		d.press("esc")
		done := &export.Job{Name: "SO_Totals", Path: "/home/jsmith/Downloads/SO_Totals.xlsx", Began: d.clock, Ended: d.clock}
		running := &export.Job{Name: "SO_Totals", Path: "/home/jsmith/Downloads/SO_Totals.csv", Total: 12_000, Began: d.clock}
		failed := &export.Job{Name: "Messages", Path: "/home/jsmith/Downloads/Messages.xlsx", Began: d.clock, Ended: d.clock, Err: errors.New("no space left on device")}
		done.Rows.Store(12_000)
		running.Rows.Store(3_400)
		d.app.jobs.all = []*export.Job{done, failed, running}
		d.press("J")
		d.golden("S00-jobs", appearance)
		d.press("esc")
		d.app.jobs.all = nil
	})
}
