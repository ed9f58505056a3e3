package records_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A custom field of a bill is shown, changed after a confirmation with old and new
// contents, and shown with the new contents.
func TestBillChangeIsConfirmed(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	c := tuitest.Connect(t, i)
	d := tuitest.Drive(t, c, tui.Options{})
	bill, stage, setting := demo.BillExample()
	field := client.BillField{BillID: bill, StageID: stage, SettingID: setting}
	before, err := c.BillValue(t.Context(), field)
	if err != nil || before.Contents == nil {
		t.Fatal(before, err)
	}
	original := *before.Contents
	wantContents := func(want string) {
		t.Helper()
		if now, err := c.BillValue(t.Context(), field); err != nil || *now.Contents != want {
			t.Errorf("the field contains %q, want %q (%v)", *now.Contents, want, err)
		}
	}
	d.Press(":", "'bill "+bill+"/"+stage+"/"+setting, "enter")
	d.WantText("of bill "+bill, "Current  "+original)
	d.Press("ctrl+s")
	d.WantText("contents are unchanged")
	d.Press("'x", "ctrl+s")
	d.WantText("Change ", "old  "+original, "new  "+original+"x")
	d.Press("enter")
	wantContents(original)
	if f, back := d.App.Overlay().(*ui.Form); !back || f.Fields[0].Text() != original+"x" {
		t.Errorf("a cancelled confirmation does not keep the typed value:\n%s", d.Text())
	}
	d.Press("ctrl+s", "y")
	d.WantText(" changed")
	wantContents(original + "x")

	d.Press(":", "'bill "+bill+"/"+stage, "enter")
	d.WantText("Custom fields of bill "+bill, original+"x")
	all, err := c.BillValues(t.Context(), client.BillStage{BillID: bill, StageID: stage})
	if err != nil {
		t.Fatal(err)
	}
	for range slices.IndexFunc(all, func(v wire.CustomFieldValue) bool { return v.SettingID == setting }) {
		d.Press("down")
	}
	d.Press("enter")
	d.WantText("Current  " + original + "x")
	d.Press("esc", ":", "'bill", "enter", "'"+bill+"/"+stage+"/"+setting, "ctrl+s")
	d.WantText("Current  " + original + "x")
	d.Press("esc", ":", "'bill", "enter", "enter", "enter", "enter")
	d.WantText("required")
	d.Press("'unknown's", "down", "'S", "down", "'X", "enter")
	d.WantText("unknown's")
	d.Press("esc", "esc", ":", "'bill a//b", "enter")
	d.WantText("BILL/STAGE/SETTING")
}

// A validation error of the service is shown at the field, and the typed value is
// kept.
func TestBillShowsFieldErrors(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	bill, stage, setting := demo.BillExample()
	d.Press(":", "'bill "+bill+"/"+stage+"/"+setting, "enter")
	d.Erase()
	d.Press("'new", "ctrl+s")
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.App.Update(tuitest.Letter("y")) // the response is injected below
	f, billForm := d.App.Overlay().(*ui.Form), records.NewBill(d.App)
	d.WantText("submitting")
	rejection := &client.Error{Kind: client.Rejected, Status: 400, Message: "wrong", Fields: []wire.FieldError{{FieldName: "Contents", Message: "must be shorter"}}}
	d.Send(ui.SentMsg{Form: f, Response: ui.Response{Err: rejection, Apply: func() tea.Cmd {
		billForm.Changed(client.BillField{}, nil, rejection, f)
		return nil
	}}})
	d.WantText("must be shorter", "new", "Current")
	if strings.Contains(d.Text(), "Change ") {
		t.Error("the confirmation is still open")
	}
}

// A read-only session shows a field and rejects changes.
func TestBillChangeIsRejectedIfReadOnly(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{ReadOnly: true})
	bill, stage, setting := demo.BillExample()
	d.Press(":", "'bill "+bill+"/"+stage+"/"+setting, "enter", "'x", "ctrl+s")
	d.WantText("read-only")
	if _, open := d.App.Overlay().(*ui.Confirm); open {
		t.Error("a confirmation is shown in a read-only session")
	}
}
