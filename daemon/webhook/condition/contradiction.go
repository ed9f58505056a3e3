package condition

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/tsql"
)

// contradictions returns the members that no value can meet, or not together with the members
// before them that compare the same field.
func (c *Condition) contradictions() (wrong []fault.Field) {
	for i := range c.parts {
		p := &c.parts[i]
		if p.changed != nil {
			continue
		}
		if !satisfiable([]*part{p}) {
			wrong = append(wrong, fault.Field{
				Name:    Member + "." + p.member,
				Message: "is never met: its first value is greater than its second one",
			})
			continue
		}
		var same []*part
		for j := range c.parts[:i] {
			previous := &c.parts[j]
			if previous.changed == nil && previous.field.Name == p.field.Name && previous.before == p.before {
				same = append(same, previous)
			}
		}
		if len(same) > 0 && satisfiable(same) && !satisfiable(append(same, p)) {
			wrong = append(wrong, fault.Field{
				Name:    Member + "." + p.member,
				Message: "is never met together with the other conditions on " + p.field.Name,
			})
		}
	}
	return wrong
}

// satisfiable reports whether a value may meet all comparisons of a field. Patterns count as met.
func satisfiable(parts []*part) bool {
	isNull := func(p *part) bool { return p.Operator == record.IsNull }
	if slices.ContainsFunc(parts, isNull) {
		return !slices.ContainsFunc(parts, func(p *part) bool { return !isNull(p) })
	}
	var compared []*part
	for _, p := range parts {
		if p.Operator == record.IsNotNull {
			continue
		}
		if len(compared) > 0 && p.field.Type != compared[0].field.Type { // of a posted event
			return false
		}
		compared = append(compared, p)
	}
	hasValues := func(p *part) bool { return p.Operator == record.Equal || p.Operator == record.In }
	if i := slices.IndexFunc(compared, hasValues); i >= 0 {
		return slices.ContainsFunc(compared[i].Operands, func(v wire.Value) bool { return meetsAll(v, compared) })
	}
	return overlap(compared)
}

// meetsAll reports whether a value may meet all comparisons.
func meetsAll(v wire.Value, parts []*part) bool {
	for _, p := range parts {
		if p.field.Type == record.Text {
			if p.pattern == nil && !slices.ContainsFunc(p.Operands, func(to wire.Value) bool { return mayEqual(v.Text, to.Text) }) {
				return false
			}
		} else if !p.matches(v, usual) {
			return false
		}
	}
	return true
}

// mayEqual reports whether two texts are equal under one of the collations.
func mayEqual(a, b string) bool {
	return tsql.CompareStrings(a, b) == 0 || tsql.CompareDecimalStrings(a, b) == 0
}

// overlap reports whether a value may be within all bounds.
func overlap(parts []*part) bool {
	for _, low := range parts {
		for _, high := range parts {
			if !low.reaches(high) {
				return false
			}
		}
	}
	return true
}

// reaches reports whether a value may be above the lower bound of a comparison and below the
// upper bound of another; one without such a bound has no effect.
func (p *part) reaches(high *part) bool {
	lower := slices.Contains([]record.Operator{
		record.GreaterThan, record.GreaterThanOrEqualTo, record.Between,
	}, p.Operator)
	upper := slices.Contains([]record.Operator{
		record.LessThan, record.LessThanOrEqualTo, record.Between,
	}, high.Operator)
	if !lower || !upper {
		return true
	}
	bound := high.Operands[len(high.Operands)-1]
	c := p.compare(p.Operands[0], bound)
	if p.Operator == record.GreaterThan || high.Operator == record.LessThan {
		return c < 0
	}
	return c <= 0
}
