package record

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"store", "store", 0}, {"stroe", "store", 1}, {"stor", "store", 1}, {"storre", "store", 1}, {"stxre", "store", 1},
		{"ab", "ba", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestDistanceIsOne of those that go both ways, and nothing only for equals.
func TestDistanceIsOne(t *testing.T) {
	name := rapid.StringMatching(`[ab]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		there, back := distance(a, b), distance(b, a)
		if there != back || (there == 0) != (a == b) || there > max(len(a), len(b)) {
			t.Fatalf("%q, %q: %d there, %d back", a, b, there, back)
		}
	})
}
