package tsql

import (
	"math/bits"
	"slices"
)

// search finds the elements between two stars of a pattern in a long text, by
// the Shift-And algorithm: bit i of the state is set where the runes before
// match elements 0 to i. A rune costs as many steps as there are words of 64
// elements, whatever the text.
type search struct {
	count  int              // of elements
	words  int              // that they take
	bounds []uint32         // sorted: runes from one bound to the next match the same elements
	masks  []uint64         // for each bound the bits of those elements
	width  int              // of a mask, in words
	last   uint64           // the bit of the last element in its word
	known  [tableEnd]uint32 // 1 + the index of a rune's bound, 0 until it is looked up
	rune   uint32           // the last one that known has not
	other  uint32           // what known would have of it
}

// span says of runes whether an element matches them.
type span struct {
	lo, hi  uint32
	element int
	matches bool
}

// newSearch prepares the elements at the beginning of words, up to a star.
func newSearch(words []uint32) *search {
	var spans []span
	var rest []uint64 // the mask of runes that no span has
	count, pc := 0, 0
	for ; pc < len(words) && words[pc]&^argument != opStar; count++ {
		if count%(64*stride) == 0 {
			rest = append(rest, make([]uint64, stride)...)
		}
		op := words[pc]
		pc++
		inverted := op == opAny || op&^argument == opSet && op&negated != 0
		if inverted {
			rest[count/64] |= 1 << (count % 64)
		}
		switch op &^ argument {
		case opRune:
			spans = append(spans, span{op, op, count, true})
		case opSet:
			for end := pc + 2*ranges(op); pc < end; pc += 2 {
				if words[pc] <= words[pc+1] {
					spans = append(spans, span{words[pc], words[pc+1], count, !inverted})
				}
			}
		}
	}
	s := &search{count: count, words: pc, bounds: []uint32{0}, width: len(rest), last: 1 << ((count - 1) % 64)}
	for _, p := range spans {
		s.bounds = append(s.bounds, p.lo, p.hi+1)
	}
	slices.Sort(s.bounds)
	s.bounds = slices.Compact(s.bounds)
	s.masks = slices.Repeat(rest, len(s.bounds))
	for _, p := range spans {
		for i := s.bound(p.lo); s.bounds[i] <= p.hi; i++ { // the bound behind hi is the last at most
			mask, bit := &s.masks[i*s.width+p.element/64], uint64(1)<<(p.element%64)
			if *mask &^= bit; p.matches {
				*mask |= bit
			}
		}
	}
	return s
}

// bound is the index of the last bound that is not above r.
func (s *search) bound(r uint32) int {
	i, found := slices.BinarySearch(s.bounds, r)
	if !found {
		i--
	}
	return i
}

// mask is that of a rune. Most texts repeat those that have no table.
func (s *search) mask(r uint32) []uint64 {
	known := &s.other
	if r < tableEnd {
		known = &s.known[r]
	} else if r != s.rune {
		s.rune, s.other = r, 0
	}
	if *known == 0 {
		*known = uint32(s.bound(r)) + 1
	}
	return s.masks[int(*known-1)*s.width:][:s.width]
}

const (
	stopEvery = 4096 // runes after which a search asks whether to stop
	stride    = 4    // words that are advanced at once
)

// find gives where the first match in text from pos on ends, or -1 for none.
func (s *search) find(text []byte, pos int, stop func() bool) int {
	state := make([]uint64, s.width)
	used := 0 // words of the state behind which all are zero
	for n := 1; pos < len(text); n++ {
		if n%stopEvery == 0 && stop != nil && stop() {
			return -1
		}
		r, size := foldNext(text[pos:])
		pos += size
		used = min(used/stride+1, s.width/stride) * stride
		advance(state[:used], s.mask(uint32(r)))
		if state[(s.count-1)/64]&s.last != 0 {
			return pos
		}
		for used > 0 && state[used-1] == 0 {
			used--
		}
	}
	return -1
}

// advance moves each bit of the state to the next element, where the mask lets
// it. Adding a word to itself moves its bits in one instruction.
func advance(state, mask []uint64) {
	carry := uint64(1)
	for len(state) >= stride && len(mask) >= stride {
		s, m := (*[stride]uint64)(state), (*[stride]uint64)(mask)
		var a, b, c, d uint64
		a, carry = bits.Add64(s[0], s[0], carry)
		b, carry = bits.Add64(s[1], s[1], carry)
		c, carry = bits.Add64(s[2], s[2], carry)
		d, carry = bits.Add64(s[3], s[3], carry)
		s[0], s[1], s[2], s[3] = a&m[0], b&m[1], c&m[2], d&m[3]
		state, mask = state[stride:], mask[stride:]
	}
}
