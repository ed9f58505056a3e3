package prove

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/tsql"
)

// match is whether a value matches a condition, as far as that is known without the
// database.
type match int

const (
	unknown match = iota // depends on the collation
	no
	yes
)

func known(isMatch bool) match {
	if isMatch {
		return yes
	}
	return no
}

// isSearch reports whether an operator searches inside of texts.
func isSearch(op record.Operator) bool { return op >= record.StartsWith && op <= record.Like }

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' })
}

// pattern returns the LIKE pattern for texts that begin with a text. unescape undoes its escapes.
var (
	pattern  = dialect.Matches[record.StartsWith].Operand
	unescape = strings.NewReplacer("[[]", "[", "[%]", "%", "[_]", "_")
)

// condition returns a filter with operands of the first rows; false if they have none.
// Parts of a text that is not ASCII may not be found, depending on the collation.
func (t *table) condition(field int, op record.Operator) (c query.Condition, ok bool) {
	const (
		maxOperands = 3
		partLength  = 3 // of the texts to search for
	)
	c = query.Condition{Field: field, Operator: op, Operands: t.values(field, maxOperands)}
	if isSearch(op) {
		isUnsafe := func(v wire.Value) bool { return v.Text == "" || !isASCII(v.Text) }
		c.Operands = slices.DeleteFunc(t.values(field, maxRows), isUnsafe)
	}
	if len(c.Operands) == 0 {
		return c, op.Arity() == record.None
	}
	text := c.Operands[0].Text
	start := text[:min(partLength, len(text))]
	switch op {
	case record.EndsWith:
		c.Operands[0].Text = text[max(0, len(text)-partLength):]
	case record.StartsWith, record.Contains:
		c.Operands[0].Text = start
	case record.Like:
		c.Operands[0].Text = pattern(start)
	case record.Between:
		c.Operands = []wire.Value{c.Operands[0], c.Operands[0]}
	}
	if op.Arity() == record.One {
		c.Operands = c.Operands[:1]
	}
	return c, true
}

// filters returns the filters with operands of the first rows.
func (t *table) filters() (filters []query.Condition) {
	for field, f := range t.kind.Fields {
		for op := record.Equal; op <= record.IsNotNull; op++ {
			if c, ok := t.condition(field, op); ok && f.Filter.Allows(op) {
				filters = append(filters, c)
			}
		}
	}
	return filters
}

// compare compares two values of a type other than text.
func compare(fieldType record.Type, a, b wire.Value) int {
	if fieldType == record.Decimal {
		return tsql.CompareDecimalStrings(a.Text, b.Text)
	}
	return cmp.Or(
		cmp.Compare(a.Int, b.Int),
		bytes.Compare(a.Bytes, b.Bytes),
		strings.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text)),
	)
}

// matches evaluates a condition on a value without the database.
func matches(fieldType record.Type, c query.Condition, v value) match {
	if c.Operator == record.IsNull || c.Operator == record.IsNotNull {
		return known(v.null == (c.Operator == record.IsNull))
	}
	if v.null {
		return no
	}
	if fieldType == record.Text {
		if matchesText(c, v.Text) {
			return yes
		}
		return unknown
	}
	return known(slices.ContainsFunc(c.Operands, func(o wire.Value) bool {
		return slices.Contains(orders[c.Operator], compare(fieldType, v.Value, o))
	}))
}

// orders lists the orders of a value and an operand in which the value matches. The
// operands of Between are equal.
var orders = map[record.Operator][]int{
	record.Equal:                {0},
	record.In:                   {0},
	record.Between:              {0},
	record.NotEqualTo:           {-1, 1},
	record.GreaterThan:          {1},
	record.GreaterThanOrEqualTo: {0, 1},
	record.LessThan:             {-1},
	record.LessThanOrEqualTo:    {-1, 0},
}

// matchesText reports whether a text matches a condition in every collation.
func matchesText(c query.Condition, text string) bool {
	part := c.Operands[0].Text
	switch c.Operator {
	case record.StartsWith, record.Contains:
		return isASCII(text) && strings.HasPrefix(text, part) && divides(text, len(part))
	case record.EndsWith:
		return isASCII(text) && strings.HasSuffix(text, part) && divides(text, len(text)-len(part))
	case record.Like:
		part = strings.TrimSuffix(part, "%")
		length := len(unescape.Replace(part))
		return isASCII(text) && strings.HasPrefix(pattern(text), part) && divides(text, length)
	case record.Equal, record.In, record.Between,
		record.GreaterThanOrEqualTo, record.LessThanOrEqualTo:
		return slices.ContainsFunc(c.Operands, func(o wire.Value) bool { return o.Text == text })
	}
	return false
}

// divides reports whether an ASCII text can be divided at an index in every collation: some
// compare two letters as one, such as ch.
func divides(text string, index int) bool {
	if index == 0 || index == len(text) {
		return true
	}
	isLetter := func(c byte) bool { return unicode.IsLetter(rune(c)) }
	return !isLetter(text[index-1]) || !isLetter(text[index])
}
