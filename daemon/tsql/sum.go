package tsql

import (
	"errors"
	"math/bits"
)

// ErrNotDecimal is the failure to add what is no decimal.
var ErrNotDecimal = errors.New("not a decimal")

// ErrOverflow is the failure of a sum beyond some 76 digits, twice what a
// decimal column can hold.
var ErrOverflow = errors.New("arithmetic overflow in a sum of decimals")

// Sum adds decimals exactly. Its scale is the largest scale of any of them. The
// zero value is the sum of none. It holds no pointers, so that it can live in
// memory that Go does not manage.
type Sum struct {
	total wide // in units of the scale
	scale int
	count uint64
	sign  int // of total; 0 only while nothing was added
}

// Add adds the digits of one decimal. The sum is as it was after an error.
func (s *Sum) Add(text []byte) error {
	d, ok := parseDecimal(text)
	if !ok {
		return ErrNotDecimal
	}
	next, scale := s.total, max(s.scale, d.scale)
	var term wide
	if scale > maxScale || !next.shift(scale-s.scale) ||
		!term.append(d.whole) || !term.append(d.fraction[:d.scale]) || !term.shift(scale-d.scale) {
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

// Count is the number of decimals added.
func (s *Sum) Count() uint64 { return s.count }

// AppendSum appends the digits of the sum, at its scale.
func (s *Sum) AppendSum(dst []byte) []byte {
	return appendScaled(dst, s.sign, s.total, s.scale)
}

// AppendAvg appends the digits of the average. Its scale is that of SQL Server,
// at least 6, and like there the digits beyond it are cut off, not rounded.
func (s *Sum) AppendAvg(dst []byte) ([]byte, error) {
	if s.count == 0 {
		return dst, ErrNotDecimal
	}
	mean, scale := s.total, max(6, s.scale)
	if !mean.shift(scale - s.scale) {
		return dst, ErrOverflow
	}
	mean.divide(s.count)
	return appendScaled(dst, s.sign, mean, scale), nil
}

func appendScaled(dst []byte, sign int, v wide, scale int) []byte {
	if sign < 0 && v != (wide{}) {
		dst = append(dst, '-')
	}
	var buffer [wideDigits]byte
	i := len(buffer)
	for ; v != (wide{}) || len(buffer)-i <= scale; i-- {
		buffer[i-1] = '0' + byte(v.divide(10))
	}
	point := len(buffer) - scale
	dst = append(dst, buffer[i:point]...)
	if scale > 0 {
		dst = append(append(dst, '.'), buffer[point:]...)
	}
	return dst
}

// wide is an unsigned number of 256 bits, its lowest word first.
type wide [4]uint64

const (
	maxScale   = 76 // of decimals that can be added
	wideDigits = 80 // room for any wide number at any scale
)

// append multiplies by ten and adds a digit, for each digit; false on overflow.
func (v *wide) append(digits []byte) bool {
	for len(digits) > 0 {
		n := min(len(digits), 19) // as many as a word holds
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
func (v *wide) shift(places int) bool {
	for ; places > 0; places-- {
		if !v.multiplyAdd(10, 0) {
			return false
		}
	}
	return true
}

func (v *wide) multiplyAdd(factor, carry uint64) bool {
	for i, word := range v {
		hi, lo := bits.Mul64(word, factor)
		var c uint64
		v[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return carry == 0
}

// divide leaves the quotient and returns the remainder.
func (v *wide) divide(by uint64) (rest uint64) {
	for i := len(v) - 1; i >= 0; i-- {
		v[i], rest = bits.Div64(rest, v[i], by)
	}
	return rest
}

// add adds two signed numbers and returns the sign of the result; ok is false
// on overflow.
func (v *wide) add(sign int, w wide, signW int) (result int, ok bool) {
	if sign == signW || sign == 0 {
		var carry uint64
		for i := range v {
			v[i], carry = bits.Add64(v[i], w[i], carry)
		}
		return signW, carry == 0
	}
	a, b, result := *v, w, sign
	if a.less(b) {
		a, b, result = b, a, signW
	}
	var borrow uint64
	for i := range v {
		v[i], borrow = bits.Sub64(a[i], b[i], borrow)
	}
	return result, true
}

func (v *wide) less(w wide) bool {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}
