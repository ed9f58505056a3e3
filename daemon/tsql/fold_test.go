package tsql

import (
	"testing"
	"unicode"
)

func TestFold(t *testing.T) {
	for _, class := range []string{
		"aA", "kK\u212a", "sS\u017f", "éÉ", "σςΣ", "ßẞ", "µμΜ", "жЖ", "ǆǅǄ", "åÅ\u212b", "ｆＦ", "𐐀𐐨",
	} {
		want := Fold([]rune(class)[0])
		for _, r := range class {
			if got := Fold(r); got != want {
				t.Errorf("Fold(%q) = %q, want %q like the rest of %q", r, got, want, class)
			}
		}
	}
	for _, pair := range []string{"eé", "ıi", "İi", "aª", "1¹", "oø"} {
		r := []rune(pair)
		if folded := Fold(r[0]); folded == Fold(r[1]) {
			t.Errorf("Fold of %q and of %q is %q, want different runes", r[0], r[1], folded)
		}
	}
}

// TestFoldEveryRune checks runes inside and outside the table against the definition.
func TestFoldEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			want = min(want, next)
		}
		if 'A' <= want && want <= 'Z' {
			want = unicode.ToLower(want)
		}
		if got := Fold(r); got != want {
			t.Fatalf("Fold(%U) = %U, want %U", r, got, want)
		}
		if Fold(want) != want {
			t.Fatalf("Fold(%U) is not itself", want)
		}
	}
}
