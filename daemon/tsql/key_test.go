package tsql

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestKeys checks that two texts have the same key if, and only if, they are compared as equal.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name    string
		append  func(dst, text []byte) []byte
		compare func(a, b string) int
		draw    *rapid.Generator[string]
	}{
		{"text", AppendTextKey, CompareStrings, text()},
		{"decimal", AppendDecimalKey, CompareDecimalStrings, number()},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a := c.draw.Draw(t, "a")
				b := c.draw.Draw(t, "b")
				sameKey := bytes.Equal(c.append(nil, []byte(a)), c.append(nil, []byte(b)))
				if isEqual := c.compare(a, b) == 0; sameKey != isEqual {
					t.Errorf("%q and %q have the same key: %v, want %v", a, b, sameKey, isEqual)
				}
			})
		})
	}
}

// TestEqualKeys checks texts that are equal although their bytes differ.
func TestEqualKeys(t *testing.T) {
	for _, same := range [][2]string{{"kelvin", "\u212aELVIN  "}, {"ΣΑΣ", "σας"}, {"", "  "}, {"\xff", "\xff "}} {
		a, b := AppendTextKey(nil, []byte(same[0])), AppendTextKey(nil, []byte(same[1]))
		if !bytes.Equal(a, b) {
			t.Errorf("the keys of %q and %q are %q and %q, want the same", same[0], same[1], a, b)
		}
	}
	for _, same := range [][2]string{{"1", "1.0"}, {"-0", "0.00"}, {"-010", "-10"}, {"000", "0"}} {
		a, b := AppendDecimalKey(nil, []byte(same[0])), AppendDecimalKey(nil, []byte(same[1]))
		if !bytes.Equal(a, b) {
			t.Errorf("the keys of %q and %q are %q and %q, want the same", same[0], same[1], a, b)
		}
	}
}
