package tui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/ui"
)

// A custom field of a bill shows what it holds, both values are shown before
// the new one is sent, and then it holds that.
func TestBill(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	c := connected(t, i)
	d := drive(t, c, Options{})
	one, stage, setting := demo.BillExample()
	field := client.BillField{BillID: one, StageID: stage, SettingID: setting}
	before, err := c.BillValue(t.Context(), field)
	if err != nil || before.Contents == nil {
		t.Fatal(before, err)
	}
	was := *before.Contents
	holds := func(want string) {
		t.Helper()
		if now, err := c.BillValue(t.Context(), field); err != nil || *now.Contents != want {
			t.Errorf("it holds %q, want %q (%v)", *now.Contents, want, err)
		}
	}
	d.press(":", "'bill "+one+"/"+stage+"/"+setting, "enter")
	d.sees("of bill "+one, "it holds  "+was)
	d.press("ctrl+s")
	d.sees("that is what it holds already")
	d.press("'x", "ctrl+s")
	d.sees("Change ", "old  "+was, "new  "+was+"x")
	d.press("enter")
	holds(was)
	if f, back := d.app.over.(*ui.Form); !back || f.Fields[0].Text() != was+"x" {
		t.Errorf("no to the question leaves what was typed:\n%s", d.text())
	}
	d.press("ctrl+s", "y")
	d.sees(" is set")
	holds(was + "x")

	d.press(":", "'bill "+one+"/"+stage, "enter")
	d.sees("Custom fields of bill "+one, was+"x")
	all, err := c.BillValues(t.Context(), client.BillStage{BillID: one, StageID: stage})
	if err != nil {
		t.Fatal(err)
	}
	for range slices.IndexFunc(all, func(v wire.CustomFieldValue) bool { return v.SettingID == setting }) {
		d.press("down")
	}
	d.press("enter")
	d.sees("it holds  " + was + "x")
	d.press("esc", ":", "'bill", "enter", "'"+one+"/"+stage+"/"+setting, "ctrl+s")
	d.sees("it holds  " + was + "x")
	d.press("esc", ":", "'bill", "enter", "enter", "enter", "enter")
	d.sees("this is needed")
	d.press("'nobody's", "down", "'S", "down", "'X", "enter")
	d.sees("nobody's")
	d.press("esc", "esc", ":", "'bill a//b", "enter")
	d.sees("BILL/STAGE/SETTING")
}

// What the service finds wrong with a value stands at the field, with the value
// as it was typed.
func TestBillShowsWhatIsWrong(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	d := drive(t, connected(t, i), Options{})
	one, stage, setting := demo.BillExample()
	d.press(":", "'bill "+one+"/"+stage+"/"+setting, "enter")
	d.erase()
	d.press("'new", "ctrl+s")
	d.clock = d.clock.Add(ms(500))
	d.app.Update(letter("y")) // what the service answers comes now
	f, billForm := d.app.over.(*ui.Form), records.NewBill(d.app)
	d.sees("on its way")
	refusal := &client.Error{Kind: client.Rejected, Status: 400, Message: "wrong", Fields: []wire.FieldError{{FieldName: "Contents", Message: "must be shorter"}}}
	d.send(ui.SentMsg{Form: f, Answer: ui.Answer{Err: refusal, Take: func() tea.Cmd {
		billForm.Changed(client.BillField{}, nil, refusal, f)
		return nil
	}}})
	d.sees("must be shorter", "new", "it holds")
	if strings.Contains(d.text(), "Change ") {
		t.Error("the question is still there")
	}
}

// A read-only session shows a field and changes none.
func TestBillIsReadOnly(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	d := drive(t, connected(t, i), Options{ReadOnly: true})
	one, stage, setting := demo.BillExample()
	d.press(":", "'bill "+one+"/"+stage+"/"+setting, "enter", "'x", "ctrl+s")
	d.sees("read-only")
	if _, asked := d.app.over.(*ui.Confirm); asked {
		t.Error("it asks for what it may not do")
	}
}
