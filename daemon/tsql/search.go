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
	words  []uint32  // the elements
	last   int       // the number of the last one
	bounds []uint32  // sorted: the same elements match all runes from one bound to the next
	masks  [][]block // the bits of those elements, by bound; nil until a text has such a rune
}

// block is a piece of the state, so large that a loop over blocks costs little.
type block [8]uint64

const blockBits = 8 * 64

// step moves all bits up by one, carry into the lowest, and keeps those of mask. A
// word is moved up by adding it to itself, for which processors have a carry.
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

// newSearch prepares the elements at the beginning of words, up to a star.
func newSearch(words []uint32) *search {
	s := &search{last: -1, bounds: []uint32{0}}
	pc := 0
	for pc < len(words) && words[pc]&^argument != opStar {
		_, width := takes(words[pc:], 0)
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

// mask has the bits of the elements that match r.
func (s *search) mask(r uint32) []block {
	i, found := slices.BinarySearch(s.bounds, r)
	if !found {
		i-- // the bound below
	}
	if s.masks[i] == nil {
		s.masks[i] = make([]block, s.last/blockBits+1)
		for pc, n := 0, 0; pc < len(s.words); n++ {
			ok, width := takes(s.words[pc:], r)
			if pc += width; ok {
				s.masks[i][n/blockBits][n%blockBits/64] |= 1 << (n % 64)
			}
		}
	}
	return s.masks[i]
}

// stopEvery is the number of runes after which a search asks whether to stop.
const stopEvery = 4096

// find gives where the first match in text from pos on ends that does not end
// before least, or -1 for none.
func (s *search) find(text []byte, pos, least int, stop func() bool) int {
	state := make([]block, s.last/blockBits+1)
	used := 1 // blocks of the state behind which all are zero
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
		if *last>>(s.last%64)&1 != 0 && pos >= least {
			return pos
		}
		for n%blockBits == 0 && used > 1 && state[used-1] == (block{}) {
			used--
		}
	}
	return -1
}
