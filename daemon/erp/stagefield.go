package erp

import (
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
)

// The members of requests, as they are called in messages too.
const (
	MemberBill     = "BillID"
	MemberStage    = "StageID"
	MemberSetting  = "SettingID"
	MemberContents = "Contents"
)

// StageField names a custom field of a stage of a bill: what it holds is the one
// thing that the service writes into the ERP's own tables.
type StageField struct{ BillID, StageID, SettingID string }

// unfitContents is the failure of contents that the ERP's column cannot hold.
func unfitContents(err error, why string) *fault.Error {
	return &fault.Error{Kind: fault.Invalid, Message: MemberContents + " " + why, Err: err,
		Fields: []fault.Field{{Name: MemberContents, Message: why}}}
}

// foundValue is what is there of a place: the ids as they are stored, and what the
// field is and holds.
type foundValue struct {
	Bill, Stage, Field         *string
	Name, PluginID, PluginName *string
	ValueID, Contents          *string
}

// value is what was found, of a place of which nothing is missing.
func (f foundValue) value() wire.CustomFieldValue {
	return wire.CustomFieldValue{SettingID: *f.Field, SettingName: f.Name, Contents: f.Contents, PluginID: f.PluginID, PluginName: f.PluginName}
}

// missing is the failure of a place of which not everything was found. It names
// the first part that is missing.
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
	return fault.New(fault.NotFound, "there is no bill %s (%s)", shown(p.BillID), MemberBill)
}

func (p StageField) noStage() error {
	return fault.New(fault.NotFound, "the bill %s has no stage %s (%s)", shown(p.BillID), shown(p.StageID), MemberStage)
}

func (p StageField) noField() error {
	return fault.New(fault.NotFound, "there is no custom field %s of bill stages (%s)", shown(p.SettingID), MemberSetting)
}

// possible spares the databases ids that none of them has, and that some cannot
// even read.
func (p StageField) possible() error {
	const never = "\x00"
	switch {
	case strings.Contains(p.BillID, never):
		return p.noBill()
	case strings.Contains(p.StageID, never):
		return p.noStage()
	case strings.Contains(p.SettingID, never):
		return p.noField()
	}
	return nil
}

// shown makes an id fit for a message: short, printable, on one line.
func shown(id string) string {
	const most = 60
	text, cut := []rune(strings.ToValidUTF8(id, "?")), ""
	if len(text) > most {
		text, cut = text[:most], "..."
	}
	for i, r := range text {
		if !unicode.IsPrint(r) {
			text[i] = '?'
		}
	}
	return `"` + string(text) + `"` + cut
}
