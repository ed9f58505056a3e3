package tsql

import (
	"errors"
	"math/bits"
)

// ErrNotDecimal is returned for text that is not a decimal.
var ErrNotDecimal = errors.New("not a decimal")

// ErrOverflow is returned for sums of more than about 76 digits, twice the maximum of a
// decimal column.
var ErrOverflow = errors.New("arithmetic overflow in a sum of decimals")

// Sum is an exact sum of decimals. Its scale is the largest scale of the summands. The zero
// value is an empty sum. It contains no pointers, so that it can be stored in memory that
// is not managed by Go.
type Sum struct {
	total uint256 // in units of the last digit
	scale int
	count uint64
	sign  int // sign of total; 0 only if nothing was added
}

// Add adds a decimal. After an error the sum is unchanged.
func (s *Sum) Add(text []byte) error {
	d, ok := parseDecimal(text)
	if !ok {
		return ErrNotDecimal
	}
	scale := max(s.scale, d.scale)
	if scale > maxScale {
		return ErrOverflow
	}
	next := s.total
	if ok := next.shift(scale - s.scale); !ok {
		return ErrOverflow
	}
	term, ok := d.units(scale)
	if !ok {
		return ErrOverflow
	}
	sign := 1
	if d.negative {
		sign = -1
	}
	sign, ok = next.add(s.sign, term, sign)
	if !ok {
		return ErrOverflow
	}
	*s = Sum{total: next, scale: scale, count: s.count + 1, sign: sign}
	return nil
}

// units returns a decimal, without its sign, in units of the last digit of a scale that is not smaller
// than its own; ok is false on overflow.
func (d decimal) units(scale int) (v uint256, ok bool) {
	if ok := v.append(d.whole); !ok {
		return v, false
	}
	if ok := v.append(d.fraction[:d.scale]); !ok {
		return v, false
	}
	ok = v.shift(scale - d.scale)
	return v, ok
}

// Count returns the number of decimals added.
func (s *Sum) Count() uint64 { return s.count }

// AppendSum appends the digits of the sum, with its scale.
func (s *Sum) AppendSum(dst []byte) []byte {
	return appendScaled(dst, s.sign, s.total, s.scale)
}

// AppendAvg appends the digits of the average. As in SQL Server its scale is at least 6, and
// further digits are truncated, not rounded.
func (s *Sum) AppendAvg(dst []byte) ([]byte, error) {
	if s.count == 0 {
		return dst, ErrNotDecimal
	}
	mean := s.total
	scale := max(minAvgScale, s.scale)
	if ok := mean.shift(scale - s.scale); !ok {
		return dst, ErrOverflow
	}
	mean.divide(s.count)
	return appendScaled(dst, s.sign, mean, scale), nil
}

// appendScaled appends the digits of a number in units of the last digit of a scale.
func appendScaled(dst []byte, sign int, v uint256, scale int) []byte {
	if sign < 0 && v != (uint256{}) {
		dst = append(dst, '-')
	}
	var buffer [uint256Digits]byte
	i := len(buffer)
	for ; v != (uint256{}) || len(buffer)-i <= scale; i-- {
		buffer[i-1] = '0' + byte(v.divide(10))
	}
	point := len(buffer) - scale
	dst = append(dst, buffer[i:point]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, buffer[point:]...)
	}
	return dst
}

// uint256 is an unsigned 256-bit number, lowest word first.
type uint256 [4]uint64

const (
	minAvgScale   = 6  // minimum scale of an average
	maxScale      = 76 // maximum scale of decimals that can be added
	uint256Digits = 80 // enough for any wide number at any scale
)

// append multiplies by ten and adds a digit, for each digit; false on overflow.
func (v *uint256) append(digits []byte) bool {
	for len(digits) > 0 {
		n := min(len(digits), 19) // digits that fit into a word
		var chunk, power uint64 = 0, 1
		for _, c := range digits[:n] {
			chunk = chunk*10 + uint64(c-'0')
			power *= 10
		}
		if !v.multiplyAdd(power, chunk) {
			return false
		}
		digits = digits[n:]
	}
	return true
}

// shift multiplies by a power of ten; false on overflow.
func (v *uint256) shift(places int) bool {
	for ; places > 0; places-- {
		if !v.multiplyAdd(10, 0) {
			return false
		}
	}
	return true
}

// multiplyAdd multiplies by factor and adds carry; false on overflow.
func (v *uint256) multiplyAdd(factor, carry uint64) bool {
	for i, word := range v {
		hi, lo := bits.Mul64(word, factor)
		var c uint64
		v[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return carry == 0
}

// divide divides v and returns the remainder.
func (v *uint256) divide(divisor uint64) uint64 {
	var remainder uint64
	for i := len(v) - 1; i >= 0; i-- {
		v[i], remainder = bits.Div64(remainder, v[i], divisor)
	}
	return remainder
}

// add adds two signed numbers and returns the sign of the result; ok is false on
// overflow.
func (v *uint256) add(sign int, w uint256, signW int) (result int, ok bool) {
	if sign == signW || sign == 0 {
		var carry uint64
		for i := range v {
			v[i], carry = bits.Add64(v[i], w[i], carry)
		}
		return signW, carry == 0
	}

	larger, smaller := *v, w
	result = sign
	if larger.less(smaller) {
		larger, smaller = smaller, larger
		result = signW
	}
	var borrow uint64
	for i := range v {
		v[i], borrow = bits.Sub64(larger[i], smaller[i], borrow)
	}
	return result, true
}

func (v *uint256) less(w uint256) bool {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}
