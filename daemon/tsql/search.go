package tsql

import "slices"

// search finds the elements between two stars of a pattern in a long text, by
// the Shift-And algorithm: bit i of the state is set where the runes before
// match elements 0 to i. A rune costs as many steps as there are words of 64
// elements, whatever the text.
type search struct {
	words  []uint32   // the elements
	last   int        // the number of the last one
	bounds []uint32   // sorted: the same elements match all runes from one bound to the next
	masks  [][]uint64 // the bits of those elements, by bound; nil until a text has such a rune
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
	s.masks = make([][]uint64, len(s.bounds))
	return s
}

// mask has the bits of the elements that match r.
func (s *search) mask(r uint32) []uint64 {
	i, found := slices.BinarySearch(s.bounds, r)
	if !found {
		i-- // the bound below
	}
	if s.masks[i] == nil {
		s.masks[i] = make([]uint64, s.last/64+1)
		for pc, n := 0, 0; pc < len(s.words); n++ {
			ok, width := takes(s.words[pc:], r)
			if pc += width; ok {
				s.masks[i][n/64] |= 1 << (n % 64)
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
	state := make([]uint64, s.last/64+1)
	used := 0 // words of the state behind which all are zero
	for n := 1; pos < len(text); n++ {
		if n%stopEvery == 0 && stop != nil && stop() {
			return -1
		}
		r, size := foldNext(text[pos:])
		pos += size
		used = min(used+1, len(state))
		mask, carry := s.mask(uint32(r))[:used], uint64(1)
		for i, word := range state[:len(mask)] {
			state[i] = (word<<1 | carry) & mask[i]
			carry = word >> 63
		}
		if state[s.last/64]>>(s.last%64)&1 != 0 && pos >= least {
			return pos
		}
		for used > 0 && state[used-1] == 0 {
			used--
		}
	}
	return -1
}
