package erp

import (
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
)

// The members of requests, also used in error messages.
const (
	MemberBill     = "BillID"
	MemberStage    = "StageID"
	MemberSetting  = "SettingID"
	MemberContents = "Contents"
)

// StageField identifies a custom field of a stage of a bill. Its value is the only data
// that the service writes to the ERP's tables.
type StageField struct{ BillID, StageID, SettingID string }

// contentsError returns the error for contents that the column cannot hold.
func contentsError(err error, reason string) *fault.Error {
	return &fault.Error{
		Kind:    fault.Invalid,
		Message: MemberContents + " " + reason,
		Fields:  []fault.Field{{Name: MemberContents, Message: reason}},
		Err:     err,
	}
}

// foundValue is a row of findValue or findValues: the ids as stored, the properties of
// the field and its value; nil for missing parts.
type foundValue struct {
	Bill, Stage, Field         *string
	Name, PluginID, PluginName *string
	ValueID, Contents          *string
}

// value converts f, which must be complete, to its wire form.
func (f foundValue) value() wire.CustomFieldValue {
	return wire.CustomFieldValue{
		SettingID:   *f.Field,
		SettingName: f.Name,
		Contents:    f.Contents,
		PluginID:    f.PluginID,
		PluginName:  f.PluginName,
	}
}

// missing returns an error that names the first missing part of f, or nil.
func (p StageField) missing(f foundValue) error {
	switch {
	case f.Bill == nil:
		return p.noBill()
	case f.Stage == nil:
		return p.noStage()
	case f.Field == nil:
		return p.noField()
	}
	return nil
}

func (p StageField) noBill() error {
	return fault.New(fault.NotFound, "there is no bill %s (%s)", quoteID(p.BillID), MemberBill)
}

func (p StageField) noStage() error {
	return fault.New(fault.NotFound, "the bill %s has no stage %s (%s)",
		quoteID(p.BillID), quoteID(p.StageID), MemberStage)
}

func (p StageField) noField() error {
	return fault.New(fault.NotFound, "there is no custom field %s of bill stages (%s)",
		quoteID(p.SettingID), MemberSetting)
}

// validateIDs rejects ids with a NUL character, which no row has and some databases do
// not accept.
func (p StageField) validateIDs() error {
	const nul = "\x00"
	switch {
	case strings.Contains(p.BillID, nul):
		return p.noBill()
	case strings.Contains(p.StageID, nul):
		return p.noStage()
	case strings.Contains(p.SettingID, nul):
		return p.noField()
	}
	return nil
}

// quoteID quotes an id for an error message: short, printable, on one line.
func quoteID(id string) string {
	const maxRunes = 60
	text := []rune(strings.ToValidUTF8(id, "?"))
	ellipsis := ""
	if len(text) > maxRunes {
		text = text[:maxRunes]
		ellipsis = "..."
	}
	for i, r := range text {
		if !unicode.IsPrint(r) {
			text[i] = '?'
		}
	}
	return `"` + string(text) + `"` + ellipsis
}
