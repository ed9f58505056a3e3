package sqlstore

import (
	"strings"
	"testing"
)

// TestDecodeHash decodes stored hashes that are damaged: the result is an error in each case.
func TestDecodeHash(t *testing.T) {
	for _, test := range []struct {
		name, text string
		ok         bool
	}{
		{"a hash", strings.Repeat("0a", 32), true},
		{"nothing", "", false},
		{"too short", strings.Repeat("0a", 31), false},
		{"too long", strings.Repeat("0a", 33), false},
		{"not hexadecimal", strings.Repeat("xy", 32), false},
	} {
		var hash [32]byte
		err := decodeHash(&hash, test.text)
		if (err == nil) != test.ok {
			t.Errorf("%s: decoding %q returned the error %v, want success %v", test.name, test.text, err, test.ok)
		}
		if test.ok && hash[31] != 0x0a {
			t.Errorf("%s: the last byte is %#x, want 0x0a", test.name, hash[31])
		}
	}
}
