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

// span has the values of a field that equal a literal.
type span struct {
	kind        spanKind
	first, last bound // bounds of valueSpan, rangeSpan and gapSpan
	sign        int   // sign of infiniteSpan
	fieldType   record.Type
}

// spanKind is the relation of the values of a field to a literal.
type spanKind uint8

const (
	valueSpan     spanKind = iota // one value, which is first and last
	rangeSpan                     // the values from first to last
	gapSpan                       // no value: the literal lies after last and before first
	infiniteSpan                  // the values beyond the largest number, with the sign
	unorderedSpan                 // no value, and none is less or greater: the literal is not a number
)

// bound is a value of a field's type, or lies outside of the type.
type bound struct {
	value   wire.Value
	outside int // -1 for less than all values of the type, 1 for greater, 0 for neither
}

// exactly returns the span of one value.
func exactly(v wire.Value) span {
	return span{kind: valueSpan, first: bound{value: v}, last: bound{value: v}}
}

// compare returns the condition that compares a field with a literal.
func (s span) compare(field int, op record.Operator) query.Condition {
	if op == record.NotEqualTo {
		return query.Not(s.compare(field, record.Equal))
	}
	switch s.kind {
	case unorderedSpan:
		return never
	case infiniteSpan:
		return s.compareInfinite(field, op)
	}
	switch op {
	case record.Equal:
		return s.equal(field)
	case record.GreaterThanOrEqualTo:
		return s.compareBound(field, op, s.first, -1)
	case record.GreaterThan:
		return s.compareBound(field, op, s.last, -1)
	case record.LessThan:
		return s.compareBound(field, op, s.first, 1)
	}
	return s.compareBound(field, op, s.last, 1)
}

// equal returns the condition that a field equals the literal.
func (s span) equal(field int) query.Condition {
	switch s.kind {
	case valueSpan:
		return leaf(field, record.Equal, s.first.value)
	case rangeSpan:
		return leaf(field, record.Between, s.first.value, s.last.value)
	}
	return never
}

// compareBound compares a field with a bound. If the bound is outside of the type, all values meet
// the condition if it is on the given side, -1 or 1, and none otherwise.
func (s span) compareBound(field int, op record.Operator, b bound, side int) query.Condition {
	switch b.outside {
	case 0:
		return leaf(field, op, b.value)
	case side:
		return anyValue(field, s.fieldType)
	}
	return never
}

// compareInfinite is compare for an infinite literal. A file can have infinite values of other
// programs: they are beyond the largest number.
func (s span) compareInfinite(field int, op record.Operator) query.Condition {
	largest := math.Copysign(math.MaxFloat64, float64(s.sign))
	limit := wire.Value{Text: string(wire.AppendDouble(nil, largest, 64))}

	// The operators as they are for positive infinity. The negative one is its mirror image.
	less, lessOrEqual := record.LessThan, record.LessThanOrEqualTo
	greater, greaterOrEqual := record.GreaterThan, record.GreaterThanOrEqualTo
	if s.sign < 0 {
		less, greater = greater, less
		lessOrEqual, greaterOrEqual = greaterOrEqual, lessOrEqual
	}
	switch op {
	case greater:
		return never
	case less:
		return leaf(field, lessOrEqual, limit)
	case lessOrEqual:
		return anyValue(field, s.fieldType)
	}
	return leaf(field, greater, limit) // greater or equal, or equal: the infinite values
}

// anyValue returns the condition that all values of a type meet. Values of a column that cannot
// be read as the type do not.
func anyValue(field int, t record.Type) query.Condition {
	if t.Stored() == record.DateTime {
		return leaf(field, record.GreaterThanOrEqualTo, wire.Value{Text: firstDate.Format(wire.DateLayout)})
	}
	if t.Integer() {
		lo, _ := t.Range()
		return leaf(field, record.GreaterThanOrEqualTo, wire.Value{Int: lo})
	}
	zero := wire.Value{Text: "0"}
	return query.Condition{Join: query.Or, Parts: []query.Condition{
		leaf(field, record.LessThanOrEqualTo, zero),
		leaf(field, record.GreaterThan, zero),
	}}
}

// leaf returns a comparison of a field.
func leaf(field int, op record.Operator, operands ...wire.Value) query.Condition {
	return query.Condition{Field: field, Operator: op, Operands: operands}
}

// literals are the literals that a field can be compared with, by the type of the field, or by the
// type in which its values are stored.
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
	s.fieldType = t
	return s, err
}

// literalSpan is span without the type of the field.
func (c *Clock) literalSpan(t record.Type, literal token) (span, error) {
	value := literal.text
	switch t {
	case record.DateTime, record.Epoch:
		return c.dateSpan(value)
	case record.Bytes:
		b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(value, "="))
		if err != nil {
			return span{}, errors.New("must be base64url")
		}
		return exactly(wire.Value{Bytes: b}), nil
	}
	if literal.kind == number {
		return numberSpan(t, value)
	}
	v, err := wire.ParseValue(t, value, time.UTC)
	return exactly(v), err
}

// maxDecimal is greater than all decimals of 38 digits.
const maxDecimal = 1e38

// numberSpan reads a number.
func numberSpan(t record.Type, value string) (span, error) {
	if !strings.HasSuffix(value, "INF") {
		value = strings.TrimRight(value, "DdFfLlMm") // the suffixes of OData 3, which some clients send
	}
	f, _ := strconv.ParseFloat(value, 64) // infinite if it is beyond a double
	sign := int(math.Copysign(1, f))
	if math.IsNaN(f) {
		return span{kind: unorderedSpan}, nil
	}
	if math.IsInf(f, 0) && t == record.Double {
		return span{kind: infiniteSpan, sign: sign}, nil
	}
	if math.IsInf(f, 0) {
		return outsideSpan(sign), nil
	}
	if t.Integer() {
		return wholeSpan(t, value)
	}
	v, err := wire.ParseValue(t, value, time.UTC)
	// Parsing decides first: 38 nines are valid, but their double is not less than maxDecimal.
	isTooLarge := t == record.Decimal && math.Abs(f) >= maxDecimal
	if err != nil && isTooLarge {
		return outsideSpan(sign), nil
	}
	return exactly(v), err
}

// outsideSpan returns the span of a number above all values of a type, or below all of them.
func outsideSpan(sign int) span {
	outside := bound{outside: sign}
	return span{kind: gapSpan, first: outside, last: outside}
}

// wholeSpan reads a number that is compared with whole numbers. A number that they cannot have
// lies between two of them, or outside of the type.
func wholeSpan(t record.Type, value string) (span, error) {
	exact, ok := new(big.Rat).SetString(value)
	if !ok {
		return span{}, errors.New("must be a number")
	}
	below := new(big.Int).Div(exact.Num(), exact.Denom()) // rounded down
	last := wholeBound(t, below)
	if !exact.IsInt() {
		above := new(big.Int).Add(below, big.NewInt(1))
		return span{kind: gapSpan, first: wholeBound(t, above), last: last}, nil
	}
	if last.outside != 0 {
		return outsideSpan(last.outside), nil
	}
	return span{kind: valueSpan, first: last, last: last}, nil
}

// wholeBound returns a whole number as a bound of values of a type.
func wholeBound(t record.Type, n *big.Int) bound {
	lo, hi := t.Range()
	if n.Cmp(big.NewInt(lo)) < 0 {
		return bound{outside: -1}
	}
	if n.Cmp(big.NewInt(hi)) > 0 {
		return bound{outside: 1}
	}
	return bound{value: wire.Value{Int: n.Int64()}}
}

// dateSpan reads an instant. A date without a zone is in the zone of the records.
func (c *Clock) dateSpan(value string) (span, error) {
	value = strings.ToUpper(value)
	zone := len(value) - len("+10:00")
	if zone > len("2006-01-02") && value[zone] == ' ' { // a plus sign that was not escaped
		value = value[:zone] + "+" + value[zone+1:]
	}
	instant, zoned, err := parseDate(value)
	if err != nil {
		return span{}, err
	}
	if !zoned {
		instant = c.instantOf(instant)
	}

	below := instant.Truncate(tick)
	dates := c.dates(below)
	if !below.Equal(instant) { // between two values
		dates.first = c.dates(below.Add(tick)).first
		dates.isEmpty = true
	}
	kind := rangeSpan
	if dates.isEmpty {
		kind = gapSpan
	} else if dates.first.Equal(dates.last) {
		kind = valueSpan
	}
	return span{kind: kind, first: dateBound(dates.first), last: dateBound(dates.last)}, nil
}

// instantOf returns the instant of a date without a zone, within those of the records.
func (c *Clock) instantOf(date time.Time) time.Time {
	instant, _ := c.instant(date)
	if instant.Before(firstDate) {
		return firstDate
	}
	if instant.After(lastDate) {
		return lastDate
	}
	return instant
}

// Layouts of dates with and without a zone.
var (
	zonedLayouts    = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"}
	zonelessLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}
)

// parseDate parses a date, as if it were in UTC if it has no zone.
func parseDate(value string) (date time.Time, zoned bool, err error) {
	for _, layout := range zonedLayouts {
		date, err = time.Parse(layout, value)
		if err == nil {
			return date, true, nil
		}
	}
	for _, layout := range zonelessLayouts {
		date, err = time.Parse(layout, value)
		if err == nil {
			return date, false, nil
		}
	}
	return time.Time{}, false, errors.New("must be a date that exists")
}

// dateBound returns a date, as if it were in UTC, as a bound.
func dateBound(date time.Time) bound {
	if date.Before(firstDate) {
		return bound{outside: -1}
	}
	if date.After(lastDate) {
		return bound{outside: 1}
	}
	return bound{value: wire.Value{Text: date.Format(wire.DateLayout)}}
}

// itoa formats a number.
func itoa(n int64) string { return strconv.FormatInt(n, 10) }
