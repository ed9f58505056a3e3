package tsql

import (
	"bytes"
	"cmp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCompareText(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "   ", 0},
		{"abc", "ABC", 0},
		{"abc", "ABC  ", 0},
		{" abc", "abc", -1},
		{"abc", "abd", -1},
		{"abc", "ab", 1},
		{"ab c", "abc", -1},
		{"a\x00b", "a\x00B", 0},
		{"a\x00", "a", 1},
		{"a\t", "a", 1},
		{"resume", "résumé", -1},
		{"RÉSUMÉ", "résumé", 0},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", 0},
		{"Kelvin", "\u212aELVIN", 0},
		{"straße", "STRAẞE", 0},
		{"straße", "strasse", 1},
		{"a\u00a0", "a", 1}, // only U+0020 is padding
		{"INV-0000012345", "inv-0000012346", -1},
		{"INV-00000123456789", "INV-00000123456789é", -1},
		{"_", "a", -1},
		{"日本", "日本語", -1},
		{"\xff", "\xfe", 1},
		{"\xff", "\uffff", 1},
	} {
		if got := CompareText([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("CompareText(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := CompareStrings(c.b, c.a); got != -c.want {
			t.Errorf("CompareStrings(%q, %q) = %d, want %d", c.b, c.a, got, -c.want)
		}
	}
}

func TestMatchLiterals(t *testing.T) {
	for _, c := range []struct {
		value, x                 string
		prefix, suffix, contains bool
	}{
		{"", "", true, true, true},
		{"abc", "", true, true, true},
		{"abc", "AB", true, false, true},
		{"abc", "BC", false, true, true},
		{"abc", "ABC", true, true, true},
		{"abc", "abcd", false, false, false},
		{"abc  ", "C", false, true, true},
		{"abc  ", "c ", false, true, true},
		{"abc  ", "c  ", false, true, true},
		{"abc  ", "c   ", false, false, false},
		{"abc", "abc ", false, false, false},
		{"  ", " ", true, true, true},
		{"", " ", false, false, false},
		{"50%", "0%", false, true, true},
		{"a_c", "_", false, false, true},
		{"[x]", "[x", true, false, true},
		{"Kelvin", "\u212a", true, false, true},
		{"\u212a", "k", true, true, true},
		{"caf\u00e9", "\u00c9", false, true, true},
		{"caf\u00e9", "\xa9", false, false, false}, // a byte of é is not a part of it
		{"x\xa9", "\xa9", false, true, true},
	} {
		literal := Literal(c.x)
		for pattern, want := range map[string]bool{
			literal + "%":       c.prefix,
			"%" + literal:       c.suffix,
			"%" + literal + "%": c.contains,
		} {
			if got := CompileLike(pattern).Match([]byte(c.value)); got != want {
				t.Errorf("%q LIKE %q: got %v, want %v", c.value, pattern, got, want)
			}
		}
	}
}

// text generates texts that are likely to be similar.
func text() *rapid.Generator[string] {
	pieces := []string{"a", "A", "b", "B", "k", "\u212a", "é", "É", "e", "σ", "ς", " ", "  ", "\x00", "\xff", "\xc3",
		"\xa9", "%", "_", "[", "]", "^", "-", "𐐀", "𐐨", "abcdefgh", "ABCDEFGH"}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), "")
	})
}

// foldedKey is the definition of text comparison: the folded runes.
func foldedKey(text string) []rune {
	var key []rune
	for text = strings.TrimRight(text, " "); len(text) > 0; {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			r = invalidBase + rune(text[0])
		} else {
			r = Fold(r)
		}
		key = append(key, r)
		text = text[size:]
	}
	return key
}

func TestCompareTextIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := text().Draw(t, "a")
		b := text().Draw(t, "b")
		c := text().Draw(t, "c")
		checkOrder(t, CompareStrings, a, b, c)
		x, y := foldedKey(a), foldedKey(b)
		want := 0
		for i := 0; want == 0 && i < min(len(x), len(y)); i++ {
			want = cmp.Compare(x[i], y[i])
		}
		if want == 0 {
			want = cmp.Compare(len(x), len(y))
		}
		if got := CompareStrings(a, b); got != want {
			t.Fatalf("CompareText(%q, %q) = %d, want %d", a, b, got, want)
		}
		if (CompareText([]byte(a), []byte(b)) == 0) != (want == 0) {
			t.Fatalf("CompareText(%q, %q) does not agree with CompareStrings, which returns %d", a, b, want)
		}
	})
}

func checkOrder(t *rapid.T, compare func(a, b string) int, a, b, c string) {
	if compare(a, a) != 0 {
		t.Fatalf("%q differs from itself", a)
	}
	if compare(a, b) != -compare(b, a) {
		t.Fatalf("%q and %q are not antisymmetric", a, b)
	}
	if compare(a, b) <= 0 && compare(b, c) <= 0 && compare(a, c) > 0 {
		t.Fatalf("%q <= %q <= %q is not transitive", a, b, c)
	}
}

// TestLiteralsMatchLike: literal matches agree with LIKE on escaped text.
func TestLiteralsMatchLike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, x := []byte(text().Draw(t, "value")), text().Draw(t, "x")
		quoted := Literal(x)
		for _, c := range []struct {
			pattern string
			match   func(value, x []byte) bool
		}{
			{quoted + "%", HasPrefix},
			{"%" + quoted, HasSuffix},
			{"%" + quoted + "%", naiveContains},
		} {
			want := CompileLike(c.pattern).Match(value)
			if got := c.match(value, []byte(x)); got != want {
				t.Fatalf("%q LIKE %q: %v, the literal match returns %v", value, c.pattern, want, got)
			}
		}
	})
}

func TestTextDoesNotAllocate(t *testing.T) {
	a := []byte("Größe: 12 Kelvin — ΣΊΣΥΦΟΣ")
	b := []byte("GRÖSSE: 12 \u212aELVIN — σίσυφος")
	p := CompileLike("%[a-f]_%ς")
	allocations := testing.AllocsPerRun(100, func() {
		CompareText(a, b)
		p.Match(b)
	})
	if allocations != 0 {
		t.Errorf("got %v allocations, want none", allocations)
	}
}

func BenchmarkCompareText(b *testing.B) {
	for _, c := range []struct{ name, a, b string }{
		{"keys", "INV-0004711", "INV-0004712"},
		{"words", "Galvanised steel", "galvanised STEEL"},
		{"accents", "Größe: Müller & Söhne", "GRÖßE: Müller & Sohn"},
	} {
		x, y := []byte(c.a), bytes.Clone([]byte(c.b))
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				CompareText(x, y)
			}
		})
	}
}
