package records_test

import (
	"slices"
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
	if err != nil {
		t.Fatal(err)
	}
	if before.Contents == nil {
		t.Fatalf("the field %+v is empty, want contents", field)
	}
	original := *before.Contents
	wantContents := func(want string) {
		t.Helper()
		value, err := c.BillValue(t.Context(), field)
		if err != nil {
			t.Fatal(err)
		}
		if *value.Contents != want {
			t.Errorf("the field contains %q, want %q", *value.Contents, want)
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
	if f, ok := d.App.Overlay().(*ui.Form); !ok || f.Fields[0].Text() != original+"x" {
		t.Errorf("after a cancelled confirmation, the screen is\n%s\nwant the form with the typed value", d.Text())
	}
	d.Press("ctrl+s", "y")
	d.WantText(" changed")
	wantContents(original + "x")
}

// A field is opened from the list of a stage, and by its IDs in a form.
func TestBillFieldIsOpened(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	c := tuitest.Connect(t, i)
	d := tuitest.Drive(t, c, tui.Options{})
	bill, stage, setting := demo.BillExample()
	values, err := c.BillValues(t.Context(), client.BillStage{BillID: bill, StageID: stage})
	if err != nil {
		t.Fatal(err)
	}
	index := slices.IndexFunc(values, func(v wire.CustomFieldValue) bool { return v.SettingID == setting })
	contents := *values[index].Contents

	d.Press(":", "'bill "+bill+"/"+stage, "enter")
	d.WantText("Custom fields of bill "+bill, contents)
	for range index {
		d.Press("down")
	}
	d.Press("enter")
	d.WantText("Current  " + contents)
	d.Press("esc", ":", "'bill", "enter", "'"+bill+"/"+stage+"/"+setting, "ctrl+s")
	d.WantText("Current  " + contents)

	// Missing, unknown and malformed IDs are rejected.
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
	f := d.App.Overlay().(*ui.Form)
	d.WantText("submitting")
	rejection := &client.Error{
		Kind:    client.Rejected,
		Status:  400,
		Message: "wrong",
		Fields:  []wire.FieldError{{FieldName: "Contents", Message: "must be shorter"}},
	}
	response := ui.Response{Err: rejection, Apply: func() tea.Cmd {
		records.NewBill(d.App).Changed(client.BillField{}, nil, rejection, f)
		return nil
	}}
	d.Send(ui.SentMsg{Form: f, Response: response})
	d.WantText("must be shorter", "new", "Current")
	d.WantNoText("Change ") // the confirmation
}

// A read-only session shows a field and rejects changes.
func TestBillChangeIsRejectedIfReadOnly(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{ReadOnly: true})
	bill, stage, setting := demo.BillExample()
	d.Press(":", "'bill "+bill+"/"+stage+"/"+setting, "enter", "'x", "ctrl+s")
	d.WantText("read-only")
	if _, isConfirm := d.App.Overlay().(*ui.Confirm); isConfirm {
		t.Errorf("a confirmation is open in a read-only session:\n%s", d.Text())
	}
}
