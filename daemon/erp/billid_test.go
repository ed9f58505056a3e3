package erp

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn replaces random bytes in tests.
var drawn = [16]byte{0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0x0a, 0xbc, 0xde, 0xf0, 0x12, 0x34, 0x56, 0x78}

func TestNewID(t *testing.T) {
	const (
		usual = "ABCDEF01-2345-4789-8ABC-DEF012345678"
		lower = "abcdef01-2345-4789-8abc-def012345678"
		plain = "ABCDEF01234547898ABCDEF012345678"
	)
	for _, c := range []struct {
		name      string
		existing  []string
		maxLength int
		want      string
	}{
		{"no existing ids", nil, 0, usual},
		{"upper case", []string{"6F9619FF-8B86-D011-B42D-00C04FC964FF"}, 36, usual},
		{"lower case", []string{"6f9619ff-8b86-d011-b42d-00c04fc964ff"}, 40, lower},
		{"padded", []string{"6f9619ff-8b86-d011-b42d-00c04fc964ff    "}, 40, lower},
		{"braces", []string{"{6F9619FF-8B86-D011-B42D-00C04FC964FF}"}, 38, "{" + usual + "}"},
		{"no hyphens", []string{"6f9619ff8b86d011b42d00c04fc964ff"}, 32, strings.ToLower(plain)},
		{"no guid among them", []string{"", "MIGRATED000000000001", "6f9619ff-8b86", "6f9619ff-8B86-d011-b42d-00c04fc964ff"}, 0, usual},
		{"first guid wins", []string{"MIGRATED", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "6F9619FF8B86D011B42D00C04FC964FF"}, 0, lower},
		{"misplaced hyphens", []string{"6f96-19ff8b86-d011-b42d-00c04fc964ff"}, 0, usual},
		{"unbalanced braces", []string{"{6f9619ff-8b86-d011-b42d-00c04fc964ff"}, 0, usual},
		{"digits only", []string{"11111111-1111-1111-1111-111111111111"}, 0, usual},
		{"too short for hyphens", []string{"6f9619ff-8b86-d011-b42d-00c04fc964ff"}, 35, strings.ToLower(plain)},
		{"twenty characters", nil, 20, plain[:20]},
		{"too short", nil, 15, ""},
	} {
		got, ok := newID(drawn, c.existing, c.maxLength)
		wantOK := c.want != ""
		if ok != wantOK || (ok && got != c.want) {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, got, ok, c.want, wantOK)
		}
	}
}

// TestNewIDFits checks that a new id fits its column and, unless it is truncated, has the
// notation of an existing id, regardless of preceding ids.
func TestNewIDFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := idNotation{
			upper:   rapid.Bool().Draw(t, "upper"),
			hyphens: rapid.Bool().Draw(t, "hyphens"),
			braces:  rapid.Bool().Draw(t, "braces"),
		}
		random := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "random"))
		maxLength := rapid.IntRange(minIDDigits, 50).Draw(t, "maximum length")
		digits := "6f9619ff8b86d011b42d00c04fc964ff"
		if form.upper {
			digits = strings.ToUpper(digits)
		}
		existing := form.write(digits)
		preceding := rapid.String().Draw(t, "preceding id")
		id, ok := newID(random, []string{preceding, existing}, maxLength)
		if !ok || len(id) > maxLength {
			t.Fatalf("new id %q (%v) does not fit %d characters", id, ok, maxLength)
		}
		if maxLength >= len(existing) && len(id) != len(existing) {
			t.Fatalf("new id %q is not written like %q", id, existing)
		}
	})
}
