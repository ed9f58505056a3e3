package tsql

import (
	"math/bits"
	"slices"
)

// search finds the elements between two stars of a pattern in a long text with the Shift-And
// algorithm: bit i of the state is set if the preceding runes match elements 0 to i. The
// cost per rune is the number of 64-bit words needed for the elements.
type search struct {
	words  []uint32  // elements
	last   int       // index of the last element
	bounds []uint32  // sorted: the runes from one bound to the next match the same elements
	masks  [][]block // bits of those elements by bound; nil until needed
}

// block is a part of the state, large enough to make the loop overhead small.
type block [8]uint64

const blockBits = 8 * 64

// step shifts all bits up by one, with carry as the lowest bit, and masks them. A word is
// shifted by adding it to itself, because processors support addition with carry.
func (b *block) step(carry uint64, mask *block) {
	w0, carry := bits.Add64(b[0], b[0], carry)
	w1, carry := bits.Add64(b[1], b[1], carry)
	w2, carry := bits.Add64(b[2], b[2], carry)
	w3, carry := bits.Add64(b[3], b[3], carry)
	w4, carry := bits.Add64(b[4], b[4], carry)
	w5, carry := bits.Add64(b[5], b[5], carry)
	w6, carry := bits.Add64(b[6], b[6], carry)
	w7, _ := bits.Add64(b[7], b[7], carry)
	b[0] = w0 & mask[0]
	b[1] = w1 & mask[1]
	b[2] = w2 & mask[2]
	b[3] = w3 & mask[3]
	b[4] = w4 & mask[4]
	b[5] = w5 & mask[5]
	b[6] = w6 & mask[6]
	b[7] = w7 & mask[7]
}

// newSearch prepares the elements at the start of words, up to a star.
func newSearch(words []uint32) *search {
	s := &search{last: -1, bounds: []uint32{0}}
	pc := 0
	for pc < len(words) && words[pc]&^argument != opStar {
		_, width := matchRune(words[pc:], 0)
		if width == 1 {
			s.bounds = append(s.bounds, words[pc]&argument, words[pc]&argument+1)
		}
		for i := pc + 1; i < pc+width; i += 2 {
			s.bounds = append(s.bounds, words[i], words[i+1]+1)
		}
		pc += width
		s.last++
	}
	s.words = words[:pc]
	slices.Sort(s.bounds)
	s.bounds = slices.Compact(s.bounds)
	s.masks = make([][]block, len(s.bounds))
	return s
}

// mask returns the bits of the elements that match r.
func (s *search) mask(r uint32) []block {
	i, found := slices.BinarySearch(s.bounds, r)
	if !found {
		i-- // the bound below r
	}
	if s.masks[i] == nil {
		s.masks[i] = make([]block, s.last/blockBits+1)
		for pc, n := 0, 0; pc < len(s.words); n++ {
			ok, width := matchRune(s.words[pc:], r)
			pc += width
			if ok {
				s.masks[i][n/blockBits][n%blockBits/64] |= 1 << (n % 64)
			}
		}
	}
	return s.masks[i]
}

// stopEvery is the number of runes between calls of stop.
const stopEvery = 4096

// find returns the end of the first match in text, from pos, that does not end before minEnd;
// -1 if there is none.
func (s *search) find(text []byte, pos, minEnd int, stop func() bool) int {
	state := make([]block, s.last/blockBits+1)
	used := 1 // number of leading blocks that may not be zero
	last := &state[len(state)-1][s.last%blockBits/64]
	for n := 1; pos < len(text); n++ {
		if n%stopEvery == 0 && stop != nil && stop() {
			return -1
		}
		r, size := foldNext(text[pos:])
		pos += size
		mask, carry := s.mask(uint32(r)), uint64(1)
		for i := range state[:used] {
			next := state[i][7] >> 63
			state[i].step(carry, &mask[i])
			carry = next
		}
		if carry != 0 && used < len(state) {
			state[used][0] = mask[used][0] & 1
			used++
		}
		if *last>>(s.last%64)&1 != 0 && pos >= minEnd {
			return pos
		}
		for n%blockBits == 0 && used > 1 && state[used-1] == (block{}) {
			used--
		}
	}
	return -1
}
