package records

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Bill fields are changed by :bill B/S/X, or by choosing one of :bill B/S: what
// the field holds is fetched, the new value is typed below it, and both are shown
// once more before it is sent.

// Bill is where bill fields are shown and changed.
type Bill struct{ ui.Dialog }

// NewBill makes one for an app.
func NewBill(h ui.Host) Bill { return Bill{ui.NewDialog(h)} }

// Open opens the form of a field, or asks which where it is not named.
func (b Bill) Open(text string) tea.Cmd {
	if text == "" {
		b.ShowOverlay(b.choice())
		return nil
	}
	field, _ := readBillField(text) // it was checked just now
	return b.show(field, nil)
}

// show shows a field, or those of the stage where none is named, as a form asks.
func (b Bill) show(field client.BillField, f *ui.Form) tea.Cmd {
	if field.SettingID != "" {
		return b.showField(field, f)
	}
	stage := client.BillStage{BillID: field.BillID, StageID: field.StageID}
	return b.fetch(func(c *client.Client) (func(), error) {
		values, err := c.BillValues(b.Context, stage)
		return func() { b.Listed(stage, values, err, f) }, err
	})
}

// showField fetches what a field holds.
func (b Bill) showField(field client.BillField, f *ui.Form) tea.Cmd {
	return b.fetch(func(c *client.Client) (func(), error) {
		value, err := c.BillValue(b.Context, field)
		return func() { b.Fetched(field, value, err, f) }, err
	})
}

// fetch asks the service for something. Of another profile nothing is taken: it
// has another bill of that id.
func (b Bill) fetch(get func(c *client.Client) (take func(), err error)) tea.Cmd {
	c := b.Client
	return func() tea.Msg {
		take, err := get(c)
		return ui.Response{Err: err, Apply: func() tea.Cmd {
			if b.Session == b.CurrentSession() {
				take()
			}
			return nil
		}}
	}
}

// CheckBill refuses what names no field.
func CheckBill(text string) error {
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

// choice asks for the ids.
func (b Bill) choice() ui.Overlay {
	f := ui.NewForm(b.Host, "Custom field of a bill", "show")
	f.Add("BillID", "Bill", "", "the id of the bill, or all: BILL/STAGE/SETTING")
	f.Add("StageID", "Stage", "", "the id of its stage")
	f.Add("SettingID", "Setting", "", "the id of the custom field; empty lists them")
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		if field, err := readBillField(values["BillID"]); err == nil {
			return b.show(field, f)
		}
		for i, one := range f.Fields[:2] {
			if values[one.Name] == "" {
				one.Error, f.At = "this is needed", i
				return nil
			}
		}
		return b.show(client.BillField{BillID: values["BillID"], StageID: values["StageID"], SettingID: values["SettingID"]}, f)
	}
	return f
}

// Listed lists the fields of a stage with what they hold.
func (b Bill) Listed(stage client.BillStage, values []wire.CustomFieldValue, err error, f *ui.Form) {
	switch {
	case f.RejectedFields(err):
	case err != nil:
		b.ShowError("bill "+stage.BillID, err)
	case !ui.CanOpen(b.Host, f):
		b.Notify(ui.Warning, "the custom fields of bill "+stage.BillID+" are not shown, since something else was opened meanwhile")
	default:
		b.ShowOverlay(b.list(stage, values))
	}
}

func (b Bill) list(stage client.BillStage, values []wire.CustomFieldValue) ui.Overlay {
	p := &ui.Picker{Dialog: b.Dialog, Title: "Custom fields of bill " + stage.BillID, Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " changes one"}
	if len(values) == 0 {
		p.Note = "this stage has no custom fields"
	}
	for _, v := range values {
		field := client.BillField{BillID: stage.BillID, StageID: stage.StageID, SettingID: v.SettingID}
		holds, stored := contents(v)
		p.Choices = append(p.Choices, ui.Choice{
			Spans:  []theme.Span{{Text: b.Theme.Fit(billTitle(field, v), 28, false) + "  "}, {Text: billText(holds, stored), Role: theme.Dim}},
			Choose: func() tea.Cmd { return b.showField(field, nil) },
		})
	}
	return p
}

// Fetched takes what a field holds.
func (b Bill) Fetched(field client.BillField, value *wire.CustomFieldValue, err error, f *ui.Form) {
	switch {
	case f.RejectedFields(err):
	case err != nil:
		b.ShowError("bill "+billName(field), err)
	case !ui.CanOpen(b.Host, f):
		b.Notify(ui.Warning, billTitle(field, *value)+" of bill "+field.BillID+" is not shown, since something else was opened meanwhile")
	default:
		b.ShowOverlay(b.form(field, *value))
	}
}

// billTitle is the name of a field, or its id where it has none.
func billTitle(field client.BillField, v wire.CustomFieldValue) string {
	if v.SettingName != nil && *v.SettingName != "" {
		return *v.SettingName
	}
	return field.SettingID
}

// contents is what a field holds, false for nothing.
func contents(v wire.CustomFieldValue) (text string, stored bool) {
	if v.Contents == nil {
		return "", false
	}
	return *v.Contents, true
}

// form asks for the new value.
func (b Bill) form(field client.BillField, v wire.CustomFieldValue) *ui.Form {
	was, stored := contents(v)
	title := billTitle(field, v)
	f := ui.NewForm(b.Host, title+" of bill "+field.BillID, "change")
	f.Add("Contents", "Contents", was, "an empty text clears the field")
	f.Notes = []string{"it holds  " + billText(was, stored), "stage     " + field.StageID, "both are shown before it is sent"}
	if f.Fields[0].Input.Value() != was {
		f.Notes = append(f.Notes, "it has line breaks or is long, which is lost here: whctl bill update keeps them")
	}
	f.Send = func(map[string]string, bool) tea.Cmd {
		now := f.Fields[0].Input.Value() // blanks at its ends are the user's
		switch {
		case b.ReadOnly:
			b.Notify(ui.Warning, "this session is read-only (:rw lifts it)")
			return nil
		case now == was && stored:
			f.Fields[0].Error = "that is what it holds already"
			return nil
		}
		q := ui.OpenConfirm(b.Host, "Change "+title+"?", "change it", []string{"old  " + billText(was, stored), "new  " + billText(now, true), "of bill " + field.BillID + ", stage " + field.StageID},
			func() tea.Cmd {
				b.ShowOverlay(f) // until it is answered
				return f.Track(b.Set(field, now, f))
			})
		q.Below = f
		return nil
	}
	return f
}

// Set changes what a field holds.
func (b Bill) Set(field client.BillField, contents string, f *ui.Form) tea.Cmd {
	var value *wire.CustomFieldValue
	return b.Change(ui.Change{Name: "change of " + field.SettingID, Do: func(ctx context.Context, c *client.Client) (err error) {
		value, err = c.SetBillValue(ctx, field, contents)
		return err
	}, OnDone: func(err error) { b.Changed(field, value, err, f) }})
}

// Changed tells how a change went.
func (b Bill) Changed(field client.BillField, value *wire.CustomFieldValue, err error, f *ui.Form) {
	switch {
	case b.Session != b.CurrentSession() || f.RejectedFields(err):
	case err != nil:
		b.ShowError("bill "+billName(field), err)
	default:
		f.Finish()
		b.Notify(ui.Info, billTitle(field, *value)+" is set")
	}
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
