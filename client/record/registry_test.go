package record

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"store", "store", 0},
		{"stroe", "store", 1},
		{"stor", "store", 1},
		{"storre", "store", 1},
		{"stxre", "store", 1},
		{"ab", "ba", 1},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestDistanceIsSymmetric also checks that only the distance of equal names is 0. The
// optimal string alignment distance does not satisfy the triangle inequality.
func TestDistanceIsSymmetric(t *testing.T) {
	name := rapid.StringMatching(`[ab]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		ab, ba := distance(a, b), distance(b, a)
		if ab != ba || (ab == 0) != (a == b) || ab > max(len(a), len(b)) {
			t.Fatalf("distance of %q and %q is %d and %d", a, b, ab, ba)
		}
	})
}
