package queries

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// StoredIDs converts IDs of the service's own kinds in conditions to the form in which they are
// stored, like IDs in paths: lower case with hyphens. A text that is not a GUID is no ID.
func StoredIDs(kind *record.Kind, where []query.Condition) {
	for i, c := range where {
		if !comparesID(kind, c) {
			continue
		}
		where[i].Operands = slices.Clone(c.Operands)
		for j, v := range where[i].Operands {
			if id, err := wire.ParseGuid(v.Text); err == nil {
				where[i].Operands[j].Text = id
			}
		}
	}
}

// HasInvalidID reports whether a condition compares an ID of the service's own kinds with a text
// that is not a GUID. No record has it, which is no error in a query.
func HasInvalidID(kind *record.Kind, where []query.Condition) bool {
	isInvalid := func(v wire.Value) bool {
		_, err := wire.ParseGuid(v.Text)
		return err != nil
	}
	return slices.ContainsFunc(where, func(c query.Condition) bool {
		return comparesID(kind, c) && slices.ContainsFunc(c.Operands, isInvalid)
	})
}

// comparesID reports whether a condition compares a whole ID of the service's own kinds.
func comparesID(kind *record.Kind, c query.Condition) bool {
	f := kind.Fields[c.Field]
	isID := f.Type == record.Text && strings.HasSuffix(f.Name, "ID")
	comparesWhole := c.Operator == record.Equal || c.Operator == record.In
	return kind.Database == record.AppDB && isID && comparesWhole
}
