package tsql

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExactLike(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, not []string
	}{
		{"abc", []string{"abc", "abc  "}, []string{"ABC", "abcd", " abc"}},
		{"abc ", []string{"abc ", "abc   "}, []string{"abc"}},
		{"A%", []string{"A", "Abc", "A\nb"}, []string{"", "abc"}},
		{"%é", []string{"é", "xé "}, []string{"É"}},
		{"_B", []string{"aB", "éB"}, []string{"ab", "B"}},
		{"[A-C]%", []string{"A", "Cx"}, []string{"a", "D"}},
		{"[^A-C]", []string{"a", "D"}, []string{"A", ""}},
		{"[c-a]", nil, []string{"a", "c", "-"}},
		{"[^c-a]", []string{"a"}, []string{""}},
		{"[^]", []string{"a", "]"}, []string{"", "ab"}},
		{"[]", nil, []string{"", "]"}},
		{"[a", nil, []string{"", "a", "[a"}},
		{"5[%].", []string{"5%."}, []string{"5%x", "50."}},
		{`a\[[]b`, []string{`a\[b`}, []string{`A\[b`, "ab"}},
	} {
		p := CompileExactLike(test.pattern)
		for _, text := range test.yes {
			if !p.MatchString(text) {
				t.Errorf("%q LIKE %q does not match", text, test.pattern)
			}
		}
		for _, text := range test.not {
			if p.MatchString(text) {
				t.Errorf("%q LIKE %q matches", text, test.pattern)
			}
		}
	}
}

// TestExactLikeWithoutCase compares both kinds of patterns for texts without letter case, where
// they do not differ.
func TestExactLikeWithoutCase(t *testing.T) {
	pieces := []string{"1", "2", "3", "日", "%", "%", "_", "[1-3]", "[^1]", "[", "]", "[]", "[^日-]", " ", "."}
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pattern"), "")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")
		got := CompileExactLike(pattern).MatchString(text)
		if want := CompileLike(pattern).Match([]byte(text)); got != want {
			t.Fatalf("%q LIKE %q: got %v, want %v", text, pattern, got, want)
		}
	})
}
