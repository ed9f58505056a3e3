package tui

import (
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Bill fields are changed by :bill B/S/X, or by choosing one of :bill B/S: what
// the field holds is fetched, the new value is typed below it, and both are shown
// once more before it is sent.

// bill opens the form of a field, or asks which where it is not named.
func (a *app) bill(text string) tea.Cmd {
	if text == "" {
		a.over = newBillChoice(a)
		return nil
	}
	field, _ := readBillField(text) // it was checked just now
	return a.showBill(field)
}

// showBill shows a field, or those of the stage where none is named.
func (a *app) showBill(field client.BillField) tea.Cmd {
	if field.SettingID == "" {
		return a.billValues(client.BillStage{BillID: field.BillID, StageID: field.StageID})
	}
	return a.billValue(field)
}

// checkBill refuses what names no field.
func (a *app) checkBill(text string) error {
	if text == "" {
		return nil
	}
	_, err := readBillField(text)
	return err
}

// readBillField reads the ids of a bill, its stage and, if it is named, a custom
// field.
func readBillField(text string) (client.BillField, error) {
	ids := strings.Split(strings.TrimSpace(text), "/")
	if len(ids) < 2 || len(ids) > 3 || slices.Contains(ids, "") {
		return client.BillField{}, errors.New("bill takes two ids or three: BILL/STAGE or BILL/STAGE/SETTING")
	}
	ids = append(ids, "")
	return client.BillField{BillID: ids[0], StageID: ids[1], SettingID: ids[2]}, nil
}

func billName(f client.BillField) string {
	return strings.TrimSuffix(f.BillID+"/"+f.StageID+"/"+f.SettingID, "/")
}

// newBillChoice asks for the ids.
func newBillChoice(a *app) overlay {
	f := &form{app: a, title: "Custom field of a bill", verb: "show"}
	f.add("BillID", "Bill", "", "the id of the bill, or all: BILL/STAGE/SETTING")
	f.add("StageID", "Stage", "", "the id of its stage")
	f.add("SettingID", "Setting", "", "the id of the custom field; empty lists them")
	f.send = func(values map[string]string, _ bool) tea.Cmd {
		if field, err := readBillField(values["BillID"]); err == nil {
			return a.showBill(field)
		}
		for i, one := range f.fields[:2] {
			if values[one.name] == "" {
				one.wrong, f.at = "this is needed", i
				return nil
			}
		}
		return a.showBill(client.BillField{BillID: values["BillID"], StageID: values["StageID"], SettingID: values["SettingID"]})
	}
	return f
}

// listedBill lists the fields of a stage with what they hold.
func (a *app) listedBill(m billFieldsMsg) {
	switch {
	case m.era != a.era:
	case m.err != nil && m.form.open() && m.form.refuse(m.err):
	case m.err != nil:
		a.fail("bill "+m.stage.BillID, m.err)
	case !a.free(m.form):
		a.tell(ui.Warning, "the custom fields of bill "+m.stage.BillID+" are not shown, since something else was opened meanwhile")
	default:
		a.over = newBillFields(a, m)
	}
}

func newBillFields(a *app, m billFieldsMsg) overlay {
	p := &picker{app: a, title: "Custom fields of bill " + m.stage.BillID, note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " changes one"}
	if len(m.values) == 0 {
		p.note = "this stage has no custom fields"
	}
	for _, v := range m.values {
		field := client.BillField{BillID: m.stage.BillID, StageID: m.stage.StageID, SettingID: v.SettingID}
		name, holds, stored := v.SettingID, "", v.Contents != nil
		if v.SettingName != nil && *v.SettingName != "" {
			name = *v.SettingName
		}
		if stored {
			holds = *v.Contents
		}
		p.choices = append(p.choices, choice{
			spans: []theme.Span{{Text: a.theme.Fit(name, 28, false) + "  "}, {Text: billText(holds, stored), Ink: a.theme.Dim}},
			take:  func() tea.Cmd { return a.billValue(field) },
		})
	}
	return p
}

// billed takes what a field holds, or that it was changed.
func (a *app) billed(m billMsg) tea.Cmd {
	switch {
	case m.era != a.era: // another service has another bill of that id
	case m.err != nil && m.form.open() && m.form.refuse(m.err):
	case m.err != nil:
		a.fail("bill "+billName(m.field), m.err)
	case m.changed:
		m.form.close()
		a.tell(ui.Info, billTitle(m)+" is set")
	case !a.free(m.form):
		a.tell(ui.Warning, billTitle(m)+" of bill "+m.field.BillID+" is not shown, since something else was opened meanwhile")
	default:
		a.over = newBillForm(a, m)
	}
	return nil
}

func billTitle(m billMsg) string {
	if m.value.SettingName != nil && *m.value.SettingName != "" {
		return *m.value.SettingName
	}
	return m.field.SettingID
}

// newBillForm asks for the new value.
func newBillForm(a *app, m billMsg) *form {
	was, stored := "", m.value.Contents != nil
	if stored {
		was = *m.value.Contents
	}
	f := &form{app: a, title: billTitle(m) + " of bill " + m.field.BillID, verb: "change"}
	f.add("Contents", "Contents", was, "an empty text clears the field")
	f.notes = []string{"it holds  " + billText(was, stored), "stage     " + m.field.StageID, "both are shown before it is sent"}
	if f.fields[0].input.Value() != was {
		f.notes = append(f.notes, "it has line breaks or is long, which is lost here: whctl bill set-field keeps them")
	}
	f.send = func(map[string]string, bool) tea.Cmd {
		now := f.fields[0].input.Value() // blanks at its ends are the user's
		switch {
		case a.readOnly:
			a.tell(ui.Warning, "this session is read-only (:rw lifts it)")
			return nil
		case now == was && stored:
			f.fields[0].wrong = "that is what it holds already"
			return nil
		}
		a.ask("Change "+billTitle(m)+"?", "change it", []string{"old  " + billText(was, stored), "new  " + billText(now, true), "of bill " + m.field.BillID + ", stage " + m.field.StageID},
			func() tea.Cmd {
				a.over = f // until it is answered
				return f.through(a.setBillValue(m.field, now))
			})
		a.goesBack(f)
		return nil
	}
	return f
}

// billText is a value as people can tell it from none.
func billText(text string, stored bool) string {
	switch {
	case !stored:
		return "- (nothing is stored)"
	case text == "":
		return `"" (empty)`
	}
	return text
}
