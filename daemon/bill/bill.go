// Package bill has the rules of the one thing that the service writes into the
// ERP's own tables: what a custom field of a bill's stage holds.
package bill

import (
	"context"
	"strings"
	"time"
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

// Place is where a value is: in a field, of a stage, of a bill.
type Place struct{ BillID, StageID, SettingID string }

// Value is what a field of a stage holds.
type Value = wire.CustomFieldValue

// Update is a change of a value.
type Update struct {
	Place
	Contents string
	Saved    time.Time // in the zone of the ERP's times; for stores without a clock of their own
}

// Store keeps the values. Ids equal each other as the ERP's database has it:
// without letter case and trailing spaces. What is missing of a place is a
// failure that Place.Missing makes.
type Store interface {
	// Value reads one field of a stage. A field without a value has no Contents.
	Value(ctx context.Context, at Place) (Value, error)
	// Values reads all fields of a stage.
	Values(ctx context.Context, billID, stageID string) ([]Value, error)
	// Set changes a value, or adds it, and reads it back. Of several at once
	// the last wins, and there is never a second row.
	Set(ctx context.Context, u Update) (Value, error)
}

// Service reads and changes values.
type Service struct {
	store Store
	zone  *time.Location
}

// New makes a Service whose ERP keeps its zoneless times in the zone.
func New(store Store, zone *time.Location) *Service { return &Service{store, zone} }

// Value is what one field of a stage holds.
func (s *Service) Value(ctx context.Context, at Place) (Value, error) {
	if err := at.possible(); err != nil {
		return Value{}, err
	}
	return s.store.Value(ctx, at)
}

// Values is every field that stages have, also those that this stage stores
// nothing for, which have no Contents: who fills in a form has to know what
// there is to fill in. They stand in the order in which the ERP displays them.
func (s *Service) Values(ctx context.Context, billID, stageID string) ([]Value, error) {
	if err := (Place{BillID: billID, StageID: stageID}).possible(); err != nil {
		return nil, err
	}
	return s.store.Values(ctx, billID, stageID)
}

// Set changes what a field of a stage holds. Empty contents clear it; nil is no
// contents at all.
func (s *Service) Set(ctx context.Context, at Place, contents *string) (Value, error) {
	if contents == nil {
		const text = `is required; "" in a JSON body clears the value`
		return Value{}, &fault.Error{Kind: fault.Missing, Message: MemberContents + " " + text,
			Fields: []fault.Field{{Name: MemberContents, Message: text}}}
	}
	if err := at.possible(); err != nil {
		return Value{}, err
	}
	return s.store.Set(ctx, Update{Place: at, Contents: *contents, Saved: time.Now().In(s.zone)})
}

// Unfit is the failure of contents that the ERP's column cannot hold.
func Unfit(err error, why string) *fault.Error {
	return &fault.Error{Kind: fault.Invalid, Message: MemberContents + " " + why, Err: err,
		Fields: []fault.Field{{Name: MemberContents, Message: why}}}
}

// Found is what is there of a place: the ids as they are stored, and what the
// field is and holds.
type Found struct {
	Bill, Stage, Field         *string
	Name, PluginID, PluginName *string
	ValueID, Contents          *string
}

// Value is what was found, of a place of which nothing is missing.
func (f Found) Value() Value {
	return Value{SettingID: *f.Field, SettingName: f.Name, Contents: f.Contents, PluginID: f.PluginID, PluginName: f.PluginName}
}

// Missing is the failure of a place of which not everything was found. It names
// the first part that is missing.
func (p Place) Missing(f Found) error {
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

func (p Place) noBill() error {
	return fault.New(fault.NotFound, "there is no bill %s (%s)", shown(p.BillID), MemberBill)
}

func (p Place) noStage() error {
	return fault.New(fault.NotFound, "the bill %s has no stage %s (%s)", shown(p.BillID), shown(p.StageID), MemberStage)
}

func (p Place) noField() error {
	return fault.New(fault.NotFound, "there is no custom field %s of bill stages (%s)", shown(p.SettingID), MemberSetting)
}

// possible spares the databases ids that none of them has, and that some cannot
// even read.
func (p Place) possible() error {
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
