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
	none        bool // first is after last
	one         bool // first is last
	unordered   bool // no value is less, equal or greater
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
			return leaf(record.IsNotNull)
		}
		return never
	}
	switch {
	case op == record.NotEqualTo:
		return query.Not(s.compare(field, record.Equal))
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
	f, err := strconv.ParseFloat(value, 64)
	switch infinite := math.IsInf(f, 0) && (err == nil || t == record.Double); { // INF, or beyond a double
	case math.IsNaN(f):
		return span{unordered: true}, nil
	case infinite && f > 0:
		return span{first: bound{outside: 1}, last: bound{outside: 1}, none: true}, nil
	case infinite:
		return span{first: bound{outside: -1}, last: bound{outside: -1}, none: true}, nil
	case t == record.Decimal && err == nil && math.Abs(f) >= maxDecimal:
		outside := bound{outside: int(math.Copysign(1, f))}
		return span{first: outside, last: outside, none: true}, nil
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
		return span{first: dateBound(first), last: dateBound(last), none: true}, nil
	}
	return span{first: dateBound(first), last: dateBound(last), none: first.After(last), one: first.Equal(last)}, nil
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
