package odata

import (
	"encoding/base64"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// Conditions that are the same for all rows.
var (
	always = query.Condition{Join: query.And}
	never  = query.Condition{Join: query.Or}
)

// span is a literal as the values of a field that equal it: those from first to last, none if
// first is after last.
type span struct {
	first, last bound
	of          record.Type // of the field
	infinite    int         // 1 or -1 if it is infinite
	none        bool        // first is after last
	one         bool        // first is last
	unordered   bool        // no value is less, equal or greater
}

// bound is a value, or else it is outside of the field's type: less (-1) or greater (1) than
// all of its values.
type bound struct {
	value   wire.Value
	outside int
}

func exactly(v wire.Value) span {
	return span{first: bound{value: v}, last: bound{value: v}, one: true}
}

// compare returns the condition that compares a field with a literal.
func (s span) compare(field int, op record.Operator) query.Condition {
	leaf := func(op record.Operator, operands ...wire.Value) query.Condition {
		return query.Condition{Field: field, Operator: op, Operands: operands}
	}
	ordered := func(b bound, whole int) query.Condition {
		switch b.outside {
		case 0:
			return leaf(op, b.value)
		case whole:
			return anyValue(field, s.of)
		}
		return never
	}
	switch {
	case op == record.NotEqualTo:
		return query.Not(s.compare(field, record.Equal))
	case s.infinite != 0:
		return s.compareInfinite(field, op)
	case s.unordered || op == record.Equal && s.none:
		return never
	case op == record.Equal && s.one:
		return leaf(record.Equal, s.first.value)
	case op == record.Equal:
		return leaf(record.Between, s.first.value, s.last.value)
	case op == record.GreaterThanOrEqualTo:
		return ordered(s.first, -1)
	case op == record.GreaterThan:
		return ordered(s.last, -1)
	case op == record.LessThan:
		return ordered(s.first, 1)
	}
	return ordered(s.last, 1)
}

// compareInfinite is compare for an infinite literal. A file can have infinite values of other
// programs: they are beyond the largest number.
func (s span) compareInfinite(field int, op record.Operator) query.Condition {
	leaf := func(op record.Operator) query.Condition {
		largest := wire.Value{Text: string(wire.AppendDouble(nil, math.Copysign(math.MaxFloat64, float64(s.infinite)), 64))}
		return query.Condition{Field: field, Operator: op, Operands: []wire.Value{largest}}
	}
	isPositive := s.infinite > 0
	switch op {
	case record.GreaterThan:
		if !isPositive {
			return leaf(record.GreaterThanOrEqualTo)
		}
		return never
	case record.LessThan:
		if isPositive {
			return leaf(record.LessThanOrEqualTo)
		}
		return never
	case record.GreaterThanOrEqualTo:
		if !isPositive {
			return anyValue(field, s.of)
		}
		return leaf(record.GreaterThan)
	case record.LessThanOrEqualTo:
		if isPositive {
			return anyValue(field, s.of)
		}
		return leaf(record.LessThan)
	}
	if isPositive {
		return leaf(record.GreaterThan)
	}
	return leaf(record.LessThan)
}

// anyValue returns the condition that all values of a type meet. Values of a column that cannot
// be read as the type do not.
func anyValue(field int, t record.Type) query.Condition {
	leaf := func(op record.Operator, operand wire.Value) query.Condition {
		return query.Condition{Field: field, Operator: op, Operands: []wire.Value{operand}}
	}
	if t.Stored() == record.DateTime {
		return leaf(record.GreaterThanOrEqualTo, wire.Value{Text: firstDate.Format(dateLayout)})
	}
	if t.Integer() {
		lo, _ := t.Range()
		return leaf(record.GreaterThanOrEqualTo, wire.Value{Int: lo})
	}
	zero := wire.Value{Text: "0"}
	return query.Condition{Join: query.Or, Parts: []query.Condition{leaf(record.LessThanOrEqualTo, zero), leaf(record.GreaterThan, zero)}}
}

// literals are the literals that a field can be compared with, by its type or
// the one in which its values are stored.
var literals = map[record.Type]struct {
	kind    tokenKind
	example string
	equal   bool // it can only be compared by eq and ne
}{
	record.Text:     {text, "a text such as 'it''s'", false},
	record.Int:      {number, "a number", false},
	record.Short:    {number, "a number", false},
	record.Byte:     {number, "a number", false},
	record.Long:     {number, "a number", false},
	record.Decimal:  {number, "a number", false},
	record.Double:   {number, "a number", false},
	record.Bool:     {identifier, "true or false", true},
	record.TimeSpan: {duration, "a duration such as duration'PT1H'", false},
	record.DateTime: {date, "a date such as 2019-05-01 or 2019-05-01T10:11:12Z", false},
	record.Bytes:    {binary, "bytes such as binary'AQID'", true},
	record.Guid:     {guid, "a GUID without quotes", true},
}

// span reads a literal that is compared with a field.
func (c *Clock) span(t record.Type, literal token) (span, error) {
	s, err := c.literalSpan(t, literal)
	s.of = t
	return s, err
}

func (c *Clock) literalSpan(t record.Type, literal token) (span, error) {
	value := literal.text
	switch {
	case t == record.DateTime || t == record.Epoch:
		return c.dateSpan(value)
	case t == record.Bytes:
		b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(value, "="))
		if err != nil {
			return span{}, errors.New("must be base64url")
		}
		return exactly(wire.Value{Bytes: b}), nil
	case literal.kind == number:
		return numberSpan(t, value)
	}
	v, err := wire.ParseValue(t, value, time.UTC)
	return exactly(v), err
}

// maxDecimal is more than a decimal of 38 digits can have.
const maxDecimal = 1e38

// numberSpan reads a number. A number that a whole-number field cannot have lies between two
// of its values, or outside of them.
func numberSpan(t record.Type, value string) (span, error) {
	if !strings.HasSuffix(value, "INF") {
		value = strings.TrimRight(value, "DdFfLlMm") // the suffixes of OData 3, which some clients send
	}
	f, _ := strconv.ParseFloat(value, 64) // infinite if it is beyond a double
	sign := int(math.Copysign(1, f))
	switch {
	case math.IsNaN(f):
		return span{unordered: true}, nil
	case math.IsInf(f, 0) && t == record.Double: // also a number beyond a double
		return span{infinite: sign, none: true}, nil
	case math.IsInf(f, 0):
		return outsideSpan(sign), nil
	case t == record.Decimal:
		v, err := wire.ParseValue(t, value, time.UTC)
		if err != nil && math.Abs(f) >= maxDecimal { // 38 nines are as large as a double, but valid
			return outsideSpan(sign), nil
		}
		return exactly(v), err
	case !t.Integer():
		v, err := wire.ParseValue(t, value, time.UTC)
		return exactly(v), err
	}
	exact, ok := new(big.Rat).SetString(value)
	if !ok {
		return span{}, errors.New("must be a number")
	}
	last := new(big.Int).Div(exact.Num(), exact.Denom()) // rounded down
	first := last
	if !exact.IsInt() {
		first = new(big.Int).Add(last, big.NewInt(1))
	}
	s := span{first: wholeBound(t, first), last: wholeBound(t, last), one: exact.IsInt()}
	s.none = !s.one || s.first.outside != 0
	return s, nil
}

// outsideSpan returns the span of a number above all values of a type, or below all of them.
func outsideSpan(sign int) span {
	outside := bound{outside: sign}
	return span{first: outside, last: outside, none: true}
}

func wholeBound(t record.Type, n *big.Int) bound {
	lo, hi := t.Range()
	switch {
	case n.Cmp(big.NewInt(lo)) < 0:
		return bound{outside: -1}
	case n.Cmp(big.NewInt(hi)) > 0:
		return bound{outside: 1}
	}
	return bound{value: wire.Value{Int: n.Int64()}}
}

// dateSpan reads an instant. A date without a zone is one of the records' own.
func (c *Clock) dateSpan(value string) (span, error) {
	value = strings.ToUpper(value)
	if zone := len(value) - len("+10:00"); zone > len("2006-01-02") && value[zone] == ' ' { // a plus sign that was not escaped
		value = value[:zone] + "+" + value[zone+1:]
	}
	at, zoned, err := parseDate(value)
	if err != nil {
		return span{}, err
	}
	if !zoned {
		seconds, skipped := c.instant(at.Unix())
		if skipped {
			at = at.Truncate(time.Second)
		}
		at = time.Unix(seconds, int64(at.Nanosecond()))
		if at.Before(firstDate) {
			at = firstDate
		} else if at.After(lastDate) {
			at = lastDate
		}
	}
	below := at.Truncate(tick)
	first, last := c.dates(below)
	if !below.Equal(at) {
		first, _ = c.dates(below.Add(tick))
		return span{of: record.DateTime, first: dateBound(first), last: dateBound(last), none: true}, nil
	}
	return span{of: record.DateTime, first: dateBound(first), last: dateBound(last), none: first.After(last), one: first.Equal(last)}, nil
}

// parseDate parses a date, as if it were in UTC if it has no zone.
func parseDate(value string) (at time.Time, zoned bool, err error) {
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"} {
		if at, err = time.Parse(layout, value); err == nil {
			return at, true, nil
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if at, err = time.Parse(layout, value); err == nil {
			return at, false, nil
		}
	}
	return at, false, errors.New("must be a date that exists")
}

func dateBound(at time.Time) bound {
	switch {
	case at.Before(firstDate):
		return bound{outside: -1}
	case at.After(lastDate):
		return bound{outside: 1}
	}
	return bound{value: wire.Value{Text: at.Format(dateLayout)}}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
