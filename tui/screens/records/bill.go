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

// Bill shows and changes custom fields of bills. The command :bill B/S/X opens a
// field, :bill B/S lists the fields of a stage. A change is confirmed with the old
// and the new contents. Like a screen it has a ui.Host, for the overlays that it
// consists of: two forms, a list and a confirmation.
type Bill struct{ ui.HostSession }

// NewBill returns a Bill of a host.
func NewBill(h ui.Host) Bill { return Bill{ui.NewHostSession(h)} }

// Open opens the form of a field, or the form for the IDs if text is empty. The
// text must pass CheckBill.
func (b Bill) Open(text string) tea.Cmd {
	if text == "" {
		b.Host.ShowOverlay(b.choice())
		return nil
	}
	field, _ := readBillField(text) // validated by CheckBill
	return b.show(field, nil)
}

// show opens a field, or the list of fields if SettingID is empty. Errors are shown
// in f unless it is nil.
func (b Bill) show(field client.BillField, f *ui.Form) tea.Cmd {
	if field.SettingID != "" {
		return b.showField(field, f)
	}
	stage := client.BillStage{BillID: field.BillID, StageID: field.StageID}
	return b.fetch(func(c *client.Client) (func(), error) {
		values, err := c.BillValues(b.Session.Context, stage)
		return func() { b.Listed(stage, values, err, f) }, err
	})
}

// showField fetches the contents of a field and opens its form.
func (b Bill) showField(field client.BillField, f *ui.Form) tea.Cmd {
	return b.fetch(func(c *client.Client) (func(), error) {
		value, err := c.BillValue(b.Session.Context, field)
		return func() { b.Fetched(field, value, err, f) }, err
	})
}

// fetch runs get in the background and then the function that it returns, which shows the
// result. It drops the result after a switch of the profile, which has different bills.
func (b Bill) fetch(get func(c *client.Client) (show func(), err error)) tea.Cmd {
	c := b.Session.Client
	return func() tea.Msg {
		show, err := get(c)
		return ui.Response{Err: err, Client: c, Apply: func() tea.Cmd {
			if b.Session == b.Host.CurrentSession() {
				show()
			}
			return nil
		}}
	}
}

// CheckBill returns an error if text is neither empty nor BILL/STAGE nor
// BILL/STAGE/SETTING.
func CheckBill(text string) error {
	if text == "" {
		return nil
	}
	_, err := readBillField(text)
	return err
}

// readBillField parses the IDs of a bill, its stage and, optionally, a custom field.
func readBillField(text string) (client.BillField, error) {
	ids := strings.Split(strings.TrimSpace(text), "/")
	if len(ids) < 2 || len(ids) > 3 || slices.Contains(ids, "") {
		return client.BillField{}, errors.New("bill needs two or three IDs: BILL/STAGE or BILL/STAGE/SETTING")
	}
	ids = append(ids, "")
	return client.BillField{BillID: ids[0], StageID: ids[1], SettingID: ids[2]}, nil
}

// billName returns the IDs of a field as they are entered.
func billName(f client.BillField) string {
	return strings.TrimSuffix(f.BillID+"/"+f.StageID+"/"+f.SettingID, "/")
}

// choice returns the form for the IDs.
func (b Bill) choice() ui.Overlay {
	f := ui.NewForm(b.Host, "Custom field of a bill", "show")
	f.Add("BillID", "Bill", "", "ID of the bill, or all IDs as BILL/STAGE/SETTING")
	f.Add("StageID", "Stage", "", "ID of the stage")
	f.Add("SettingID", "Setting", "", "ID of the custom field; leave empty to list all")
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		pasted, err := readBillField(values["BillID"])
		if err == nil { // all IDs are in the first field
			return b.show(pasted, f)
		}
		for i, field := range f.Fields[:2] {
			if values[field.Name] == "" {
				field.Error = "required"
				f.At = i
				return nil
			}
		}
		return b.show(client.BillField{
			BillID:    values["BillID"],
			StageID:   values["StageID"],
			SettingID: values["SettingID"],
		}, f)
	}
	return f
}

// Listed opens the list of the fields of a stage, or shows an error.
func (b Bill) Listed(stage client.BillStage, values []wire.CustomFieldValue, err error, f *ui.Form) {
	switch {
	case f.RejectedFields(err):
	case err != nil:
		b.Host.ShowError("bill "+stage.BillID, err)
	case !ui.CanOpen(b.Host, f):
		b.Host.Notify(ui.Warning, "custom fields of bill "+stage.BillID+" not shown: the screen changed")
	default:
		b.Host.ShowOverlay(b.list(stage, values))
	}
}

// list returns the list of the fields of a stage.
func (b Bill) list(stage client.BillStage, values []wire.CustomFieldValue) ui.Overlay {
	p := &ui.Picker{
		HostSession: b.HostSession,
		Title:       "Custom fields of bill " + stage.BillID,
		Note:        keymap.KeyFor(keymap.InMenu, keymap.Accept) + " changes one",
	}
	if len(values) == 0 {
		p.Note = "this stage has no custom fields"
	}
	for _, v := range values {
		field := client.BillField{BillID: stage.BillID, StageID: stage.StageID, SettingID: v.SettingID}
		text, stored := contents(v)
		p.Choices = append(p.Choices, ui.Choice{
			Spans: []theme.Span{
				{Text: b.Session.Theme.Fit(billTitle(field, v), 28, false) + "  "},
				{Text: billText(text, stored), Role: theme.Dim},
			},
			Choose: func() tea.Cmd { return b.showField(field, nil) },
		})
	}
	return p
}

// Fetched opens the form of a fetched field, or shows an error.
func (b Bill) Fetched(field client.BillField, value *wire.CustomFieldValue, err error, f *ui.Form) {
	switch {
	case f.RejectedFields(err):
	case err != nil:
		b.Host.ShowError("bill "+billName(field), err)
	case !ui.CanOpen(b.Host, f):
		b.Host.Notify(ui.Warning, billTitle(field, *value)+" of bill "+field.BillID+" not shown: the screen changed")
	default:
		b.Host.ShowOverlay(b.form(field, *value))
	}
}

// billTitle returns the name of a field, or its ID if it has no name.
func billTitle(field client.BillField, v wire.CustomFieldValue) string {
	if v.SettingName != nil && *v.SettingName != "" {
		return *v.SettingName
	}
	return field.SettingID
}

// contents returns the contents of a field, false if no value is stored.
func contents(v wire.CustomFieldValue) (text string, stored bool) {
	if v.Contents == nil {
		return "", false
	}
	return *v.Contents, true
}

// form returns the form for the new contents.
func (b Bill) form(field client.BillField, v wire.CustomFieldValue) *ui.Form {
	shownText, stored := contents(v)
	title := billTitle(field, v)
	f := ui.NewForm(b.Host, title+" of bill "+field.BillID, "change")
	f.Add("Contents", "Contents", shownText, "leave empty to clear the field")
	f.Notes = []string{
		"Current  " + billText(shownText, stored),
		"Stage    " + field.StageID,
		"the change must be confirmed",
	}
	if f.Fields[0].Input.Value() != shownText {
		f.Notes = append(f.Notes, "line breaks and long contents are lost here; use whctl bill update")
	}
	f.Send = func(map[string]string, bool) tea.Cmd {
		newText := f.Fields[0].Input.Value() // with leading and trailing spaces
		if b.Session.WhyReadOnly() != "" {
			b.Host.Notify(ui.Warning, b.Session.WhyReadOnly())
			return nil
		}
		if newText == shownText && stored {
			f.Fields[0].Error = "contents are unchanged"
			return nil
		}
		lines := []string{
			"old  " + billText(shownText, stored),
			"new  " + billText(newText, true),
			"of bill " + field.BillID + ", stage " + field.StageID,
		}
		question := ui.OpenConfirm(b.Host, "Change "+title+"?", "change", lines, func() tea.Cmd {
			b.Host.ShowOverlay(f) // until the response
			return f.Track(b.Set(field, newText, f))
		})
		question.Below = f
		return nil
	}
	return f
}

// Set changes the contents of a field.
func (b Bill) Set(field client.BillField, contents string, f *ui.Form) tea.Cmd {
	var value *wire.CustomFieldValue
	return b.Host.Change(ui.Change{
		Name: "change of " + field.SettingID,
		Do: func(ctx context.Context, c *client.Client) (err error) {
			value, err = c.SetBillValue(ctx, field, contents)
			return err
		},
		OnDone: func(err error) { b.Changed(field, value, err, f) },
	})
}

// Changed shows the result of a change.
func (b Bill) Changed(field client.BillField, value *wire.CustomFieldValue, err error, f *ui.Form) {
	switch {
	case b.Session != b.Host.CurrentSession() || f.RejectedFields(err):
	case err != nil:
		b.Host.ShowError("bill "+billName(field), err)
	default:
		f.Finish()
		b.Host.Notify(ui.Info, billTitle(field, *value)+" changed")
	}
}

// billText formats contents. Empty contents and no value are different.
func billText(text string, stored bool) string {
	if !stored {
		return "- (no value stored)"
	}
	if text == "" {
		return `"" (empty)`
	}
	return text
}
