package changes

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// The vectors of the reference implementation: the key is 00 01 ... 0f, the text 00 01 ....
func TestSipHashHasTheReferenceVectors(t *testing.T) {
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	for length, want := range map[int]string{
		0:  "a3817f04ba25a8e66df67214c7550293",
		1:  "da87c1d86b99af44347659119b22fc45",
		2:  "8177228da4a45dc7fca38bdef60affe4",
		15: "5493e99933b0a8117e08ec0f97cfc3d9",
		16: "6ee2a4ca67b054bbfd3315bf85230577",
	} {
		text := make([]byte, length)
		for i := range text {
			text[i] = byte(i)
		}
		s := siphash(key, text)
		got := binary.LittleEndian.AppendUint64(nil, s[0])
		got = binary.LittleEndian.AppendUint64(got, s[1])
		if hex.EncodeToString(got) != want {
			t.Errorf("hash of %d bytes: got %x, want %s", length, got, want)
		}
	}
}

func BenchmarkSipHash(b *testing.B) {
	text := []byte("2026-11-26T10:00:00.0000000")
	for b.Loop() {
		siphash([2]uint64{1, 2}, text[:12])
	}
}
