package query

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// Condition is a tree. A leaf compares one field with its operands; other nodes join
// conditions. A condition is true or false for every row: a comparison with null is false,
// so its negation is true.
type Condition struct {
	// The comparison of a leaf.
	Field    int             `json:",omitzero"`
	Operator record.Operator `json:",omitzero"`
	Operands []wire.Value    `json:",omitzero"`
	Negated  bool            `json:",omitzero"`

	// Implied means that the leaf follows from another condition for values of the field's type.
	Implied bool `json:"-"`
	// Raw means that the leaf compares values as they are stored, with the position of a row.
	Raw   bool      `json:"-"`
	Class row.Class `json:"-"` // class of the operands of a raw leaf
	// Folded means that a text is compared without regard to case, where the database can do so
	// for any column.
	Folded bool `json:",omitempty"`

	Join  Join        `json:",omitzero"` // how Parts are joined; Leaf without parts
	Parts []Condition `json:",omitzero"`
}

// Join is how a condition joins its parts.
type Join uint8

// The joins. Without parts, an And is true and an Or is false.
const (
	Leaf Join = iota
	And
	Or
)

// opposite returns the join of the negated parts in the negation of a join.
func (j Join) opposite() Join {
	if j == And {
		return Or
	}
	return And
}

// separator returns the SQL between the parts of a join.
func (j Join) separator() string {
	if j == Or {
		return " OR "
	}
	return " AND "
}

// empty returns the SQL of a join without parts.
func (j Join) empty() string {
	if j == Or {
		return "1 = 0"
	}
	return "1 = 1"
}

// Not returns the negation of a condition. Only its leaves are negated, since the databases
// know a third value.
func Not(c Condition) Condition {
	switch {
	case c.Join != Leaf:
		c.Join = c.Join.opposite()
		c.Parts = slices.Clone(c.Parts)
		for i, part := range c.Parts {
			c.Parts[i] = Not(part)
		}
	case c.Operator == record.IsNull:
		c.Operator = record.IsNotNull
	case c.Operator == record.IsNotNull:
		c.Operator = record.IsNull
	default:
		c.Negated = !c.Negated
	}
	return c
}

// IsPlain reports whether a condition is a leaf as in requests of the REST interface.
func (c Condition) IsPlain() bool { return c.Join == Leaf && !c.Negated }

// leaves calls visit for each leaf of the conditions.
func leaves(conditions []Condition, visit func(Condition)) {
	for _, c := range conditions {
		if c.Join == Leaf {
			visit(c)
		}
		leaves(c.Parts, visit)
	}
}

// storesOneValue reports whether all values that meet a condition for one value are equal in
// the order of a file, too: some types have several texts of a value.
func (c Condition) storesOneValue(kind *record.Kind) bool {
	if c.Raw {
		return true
	}
	t := kind.Fields[c.Field].Type.Stored()
	if c.Operator == record.IsNull {
		return t == record.Text
	}
	return t != record.Bool && t != record.Guid && t != record.DateTime
}
