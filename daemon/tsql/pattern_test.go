package tsql

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not []string
	}{
		{"", []string{"", "   "}, []string{"a"}},
		{"%", []string{"", "a", "  "}, nil},
		{"abc", []string{"abc", "ABC", "abc  "}, []string{"abcd", "ab", " abc"}},
		{"abc ", []string{"abc ", "abc   "}, []string{"abc"}},
		{"a%", []string{"a", "Abc"}, []string{"", "ba"}},
		{"%a", []string{"a", "bca", "bca  "}, []string{"", "ab", "ca b"}},
		{"%a%", []string{"a", "bac"}, []string{"", "bcd"}},
		{"a_c", []string{"abc", "aéc", "a c"}, []string{"ac", "abbc"}},
		{"_", []string{"x", "é", "日", "𐐀", "\xff", "x  ", " "}, []string{"", "xy"}},
		{"%[a-f]", []string{"xxC", "f"}, []string{"xxg", "", "fx"}},
		{"[^a-f]%", []string{"g", "Zebra", "é"}, []string{"a", "F", ""}},
		{"[abc-]", []string{"a", "-"}, []string{"d"}},
		{"[-ac]", []string{"-", "C"}, []string{"b"}},
		{"[a-c-e]", []string{"b", "-", "e"}, []string{"d"}},
		{"[f-a]", nil, []string{"a", "c", "f", "-"}},
		{"5[%]", []string{"5%"}, []string{"50", "5"}},
		{"[_]n", []string{"_n"}, []string{"an"}},
		{"[[]x]", []string{"[x]"}, []string{"x]", "[x"}},
		{"a]b", []string{"a]B"}, []string{"ab"}},
		{"[]", nil, []string{"", "]", "[]"}},
		{"[]]", nil, []string{"]", "[]]"}},
		{"[^]", []string{"a", "]"}, []string{"", "ab"}},
		{"[ab^]", []string{"^", "b"}, []string{"c"}},
		{"[a", nil, []string{"", "a", "[a"}},
		{"%[", nil, []string{"", "[", "a["}},
		{"[^", nil, []string{"", "a"}},
		{"\u212a%", []string{"kelvin", "K"}, []string{"elvin"}},
		{"%ς%ß", []string{"ΣẞΣẞ"}, []string{"ΣS"}},
		{"%[α-ω]", []string{"Δ", "xΩ"}, []string{"d", "é"}},
		{"%ab%ab%", []string{"abab", "xabyabz"}, []string{"ab", "aba b"}},
		{"a%b_d", []string{"abcd", "abcdbcd", "axxb d"}, []string{"abcde", "abd"}},
		{"%aab", []string{"aaab", "aaaaab"}, []string{"aaba"}},
		{"%%%a%%", []string{"a", "ba"}, []string{"b"}},
		{"%\xa9", []string{"x\xa9", "\x80\x80\xa9"}, []string{"é"}},
		{"%é", []string{"\x80\x80\x80\x80\x80é", "日本éÉ"}, []string{"e"}},
	} {
		p := CompileLike(c.pattern)
		for _, text := range c.yes {
			if !p.Match([]byte(text)) {
				t.Errorf("%q LIKE %q does not match", text, c.pattern)
			}
		}
		for _, text := range c.not {
			if p.Match([]byte(text)) {
				t.Errorf("%q LIKE %q matches", text, c.pattern)
			}
		}
	}
}

func TestLiteral(t *testing.T) {
	if got, want := Literal("50%_[x]^"), "50[%][_][[]x]^"; got != want {
		t.Errorf("Literal = %q, want %q", got, want)
	}
}

// TestLikeIsNotExponential matches patterns on which a matcher that retries every star
// would not terminate. The time limit is generous and not a measurement.
func TestLikeIsNotExponential(t *testing.T) {
	done := make(chan bool)
	go func() {
		text := []byte(strings.Repeat("a", 5000))
		done <- CompileLike(strings.Repeat("%a", 500) + "%b").Match(text)
	}()
	select {
	case matched := <-done:
		if matched {
			t.Error("a text without b matches a pattern with b")
		}
	case <-time.After(time.Minute):
		t.Fatal("the match does not end within a minute")
	}
}

func TestPatternOf(t *testing.T) {
	p := CompileLike("%[a-c]_")
	copied := PatternOf(append([]uint32(nil), p.Words()...))
	if !copied.Match([]byte("xxbx")) || copied.Match([]byte("xxdx")) {
		t.Error("PatternOf(Words()) matches differently")
	}
}

// reference implements LIKE by its definition, without regard for time.
func reference(pattern, text string) bool {
	if !wellFormed(pattern) {
		return false
	}
	for {
		if matches(pattern, text) {
			return true
		}
		trimmed, hasSpace := strings.CutSuffix(text, " ")
		if !hasSpace {
			return false
		}
		text = trimmed
	}
}

// wellFormed reports whether all sets of a pattern are closed.
func wellFormed(pattern string) bool {
	for {
		i := strings.IndexByte(pattern, '[')
		if i < 0 {
			return true
		}
		n := strings.IndexByte(pattern[i:], ']')
		if n < 0 {
			return false
		}
		pattern = pattern[i+n+1:]
	}
}

// matches reports whether a pattern matches all of a text, including trailing spaces.
func matches(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	if pattern[0] == '%' {
		return matches(pattern[1:], text) || (text != "" && matches(pattern, text[first(text):]))
	}
	if text == "" {
		return false
	}
	r := foldedKey(text[:first(text)] + "x")[0]
	after := text[first(text):]
	switch pattern[0] {
	case '_':
		return matches(pattern[1:], after)
	case '[':
		n := strings.IndexByte(pattern, ']')
		inside, not := strings.CutPrefix(pattern[1:n], "^")
		return inSet(foldedKey(inside+"x"), r) != not && matches(pattern[n+1:], after)
	}
	n := first(pattern)
	return foldedKey(pattern[:n] + "x")[0] == r && matches(pattern[n:], after)
}

// first returns the number of bytes of the first rune.
func first(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// inSet reports whether the runes in brackets contain r. The last rune is a sentinel.
func inSet(set []rune, r rune) bool {
	set = set[:len(set)-1]
	for len(set) > 0 {
		if len(set) >= 3 && set[1] == '-' {
			if set[0] <= r && r <= set[2] {
				return true
			}
			set = set[3:]
			continue
		}
		if set[0] == r {
			return true
		}
		set = set[1:]
	}
	return false
}

func TestLikeAgainstReference(t *testing.T) {
	pieces := []string{
		"a", "B", "c", "é", "\u212a", "%", "%", "_", "[a-c]", "[^a]", "[", "]", "[]", "[^é-ω-]", " ", "\xff", "\xc3",
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pattern"), "")
		value := text().Draw(t, "text")
		if got, want := CompileLike(pattern).Match([]byte(value)), reference(pattern, value); got != want {
			t.Fatalf("%q LIKE %q = %v, want %v", value, pattern, got, want)
		}
	})
}

func FuzzLike(f *testing.F) {
	for _, seed := range [][2]string{
		{"%a_[b-d]%", "xaYcz"}, {"[^", "a"}, {"%\xff", "\xff "}, {"[]a]%", "]"}, {"é%É ", "éÉ  "}, {"%ab%c", "aabbcc"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if strings.Count(pattern, "%") > 4 || len(text) > 60 {
			return // the reference is exponential
		}
		if got, want := CompileLike(pattern).Match([]byte(text)), reference(pattern, text); got != want {
			t.Errorf("%q LIKE %q = %v, want %v", text, pattern, got, want)
		}
		if !CompileLike(Literal(text)).Match([]byte(text)) {
			t.Errorf("%q does not match itself as a literal", text)
		}
	})
}

func BenchmarkLike(b *testing.B) {
	text := []byte("Galvanised hexagon bolt M12 x 40, box of 100")
	for _, pattern := range []string{"galv%", "%of 100", "%bolt%", "%[k-n][0-9][0-9]%", "%x_[4-5]0%", "%h_x[a-f]g%b%1%"} {
		p := CompileLike(pattern)
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !p.Match(text) {
					b.Fatal("no match")
				}
			}
		})
	}
}
