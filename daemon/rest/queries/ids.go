package queries

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// StoredIDs converts IDs of the service's own kinds in conditions to the form in which they
// are stored, as those of paths: lower case with hyphens. A text that is not a GUID is no ID.
func StoredIDs(kind *record.Kind, where []query.Condition) {
	if kind.Database != record.AppDB {
		return
	}
	for i, c := range where {
		f := kind.Fields[c.Field]
		isID := f.Type == record.Text && strings.HasSuffix(f.Name, "ID")
		comparesWhole := c.Operator == record.Equal || c.Operator == record.In
		if !isID || !comparesWhole {
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
