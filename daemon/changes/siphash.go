package changes

import (
	"encoding/binary"
	"math/bits"
)

// sum is a hash of 128 bits. The hash of a row is the sum of those of its fields.
type sum [2]uint64

func (s sum) plus(t sum) sum { return sum{s[0] + t[0], s[1] + t[1]} }

// siphash is SipHash-2-4 with a result of 128 bits: a keyed hash that is fast for short
// texts, and the same in every process.
func siphash(key [2]uint64, text []byte) sum {
	v0, v1 := key[0]^0x736f6d6570736575, key[1]^0x646f72616e646f6d^0xee
	v2, v3 := key[0]^0x6c7967656e657261, key[1]^0x7465646279746573
	last := uint64(len(text)) << 56
	for ; len(text) >= 8; text = text[8:] {
		m := binary.LittleEndian.Uint64(text)
		v3 ^= m
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0 ^= m
	}
	for i, c := range text {
		last |= uint64(c) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xee
	for range 4 {
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
	}
	first := v0 ^ v1 ^ v2 ^ v3
	v1 ^= 0xdd
	for range 4 {
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
	}
	return sum{first, v0 ^ v1 ^ v2 ^ v3}
}

func round(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v2 += v1
	v0 = bits.RotateLeft64(v0, 32) + v3
	return v0, bits.RotateLeft64(v1, 17) ^ v2, bits.RotateLeft64(v2, 32), bits.RotateLeft64(v3, 21) ^ v0
}
