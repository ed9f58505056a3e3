package query

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// KeyPlace returns the place after a row, or of the first page if after is nil, in the
// ascending order of fields that identify a row.
func KeyPlace(kind *record.Kind, fields []int, after []Position) *Place {
	p := &Place{After: after, Proven: fields, kind: kind}
	for _, field := range fields {
		p.Order = append(p.Order, Order{Field: field})
	}
	return p
}

// MatchKeys returns the condition for the rows with the values of one of the
// keys.
func MatchKeys(kind *record.Kind, fields []int, keys [][]Position) Condition {
	isUntyped := func(key []Position) bool { return key[0].Null || key[0].Class != row.ClassOfType }
	if len(fields) == 1 && !slices.ContainsFunc(keys, isUntyped) {
		values := make([]wire.Value, len(keys))
		for i, key := range keys {
			values[i] = key[0].Compare(kind, fields[0], record.Equal).Operands[0]
		}
		return Condition{Field: fields[0], Operator: record.In, Raw: true, Operands: values}
	}
	anyKey := Condition{Join: Or}
	for _, key := range keys {
		wholeKey := Condition{Join: And}
		for i, position := range key {
			wholeKey.Parts = append(wholeKey.Parts, position.equal(kind, fields[i])...)
		}
		anyKey.Parts = append(anyKey.Parts, wholeKey)
	}
	return anyKey
}
