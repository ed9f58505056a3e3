package tsql

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// worstCase is a pattern with a text.
type worstCase struct{ pattern, text string }

// worstCases contains patterns of up to 4,000 characters, each with a text of 1 MB, for which
// backtracking takes time proportional to the product of the lengths. None matches.
var worstCases = func() map[string]worstCase {
	const size = 1 << 20 // bytes of a text
	const maxLength = 4000
	repeat := func(s string, characters int) string {
		return strings.Repeat(s, characters/utf8.RuneCountInString(s))
	}
	text := func(s string) string { return strings.Repeat(s, size/len(s)) }
	a := text("a")
	cases := map[string]worstCase{
		"percents":            {repeat("%a", maxLength-2) + "%b", a},
		"percents and sets":   {repeat("%[ab]_", maxLength-2) + "%b", a},
		"literal, near miss":  {"%" + repeat("a", maxLength-3) + "b%", a},
		"literal, last":       {"%" + repeat("a", maxLength-2) + "b", a},
		"underscores":         {"%" + repeat("a_", maxLength-4) + "ab%", a},
		"underscores alone":   {"%" + repeat("_", maxLength-3) + "b%", a},
		"underscores, spaces": {"%" + repeat("_", maxLength-3) + "b", text(" ")},
		"sets":                {"%" + repeat("[ab]", maxLength-4) + "c%", a},
		"sets, negated":       {"%" + repeat("[^b]", maxLength-4) + "b%", a},
		"a large set":         {"%[" + nonASCII(maxLength-5) + "]b%", a},
		"large sets":          {"%" + repeat("["+nonASCII(37)+"a]", maxLength-80) + "b%", a},
		"a period":            {"%" + repeat("ab", maxLength-6) + "_aa%", text("ab")},
		"two bytes":           {"%" + repeat("é_", maxLength-3) + "e%", text("é")},
		"three bytes":         {"%" + repeat("日_", maxLength-3) + "月%", text("日")},
		"damaged":             {"%" + repeat("\xff_", maxLength-3) + "b%", text("\xff")},
		"after a literal":     {"%a%" + repeat("a_", maxLength-6) + "b%", a},
	}
	for name, c := range cases {
		if n := utf8.RuneCountInString(c.pattern); n > maxLength || n < maxLength-100 {
			panic(fmt.Sprintf("%s has %d characters", name, n))
		}
	}
	return cases
}()

// nonASCII returns n different characters outside ASCII letters.
func nonASCII(n int) string {
	var b strings.Builder
	for r := range rune(n) {
		b.WriteRune(0x400 + 2*r)
	}
	return b.String()
}

// TestWorstPatterns: the work for a match depends only on the length of the text: a limited
// number of steps, and a search that reads each rune once, measured by the calls of stop.
func TestWorstPatterns(t *testing.T) {
	for name, c := range worstCases {
		p := CompileLike(c.pattern)
		size := len(c.text) / 24 / 12 * 12 // a multiple of the sizes of all repeated texts
		text := []byte(c.text[:size])
		calls := 0
		neverStop := func() bool {
			calls++
			return false
		}
		if p.MatchUntil(text, neverStop) {
			t.Errorf("%s: matches", name)
		}
		stars := strings.Count(c.pattern, "%")
		if maxCalls := utf8.RuneCount(text)/stopEvery + stars; calls > maxCalls {
			t.Errorf("%s: stop was called %d times, more than %d", name, calls, maxCalls)
		}
		m := matcher{words: p.words, text: text, end: len(text), star: -1, steps: freeSteps + len(text)}
		m.run(nil)
		if m.steps < -2*len(p.words) {
			t.Errorf("%s: %d steps too many", name, -m.steps)
		}
	}
}

// TestStop: a match ends when stop returns true.
func TestStop(t *testing.T) {
	for name, c := range worstCases {
		minCalls := 1
		if strings.HasPrefix(name, "percents") || name == "literal, last" {
			minCalls = 0 // no long searches
		}
		calls := 0
		stop := func() bool {
			calls++
			return true
		}
		if CompileLike(c.pattern).match([]byte(c.text), 0, stop) {
			t.Errorf("%s: matches although it is stopped", name)
		}
		if calls < minCalls || calls > 1 {
			t.Errorf("%s: stop was called %d times, want %d to 1", name, calls, minCalls)
		}
	}
}

// TestStopLater: a match goes on until stop returns true, or it is complete.
func TestStopLater(t *testing.T) {
	text := []byte(strings.Repeat("é", 1<<20) + "b")
	calls := 0
	stopAtThird := func() bool {
		calls++
		return calls == 3
	}
	if CompileLike("%b%").match(text, 0, stopAtThird) || calls != 3 {
		t.Errorf("stop was called %d times, want that the third call ends the match", calls)
	}
	neverStop := func() bool { return false }
	if !CompileLike("%éb%").match(text, 0, neverStop) {
		t.Error("the end of the text is not found without a stop")
	}
}

// backtrackingMatch tries every position for the elements after the last star.
func backtrackingMatch(p *Pattern, text []byte) bool {
	m := matcher{words: p.words, text: text, end: len(trimSpaces(text)), star: -1, steps: 1 << 62}
	return m.run(nil)
}

// naiveContains tries every position.
func naiveContains(value, x []byte) bool {
	if len(x) == 0 {
		return true
	}
	for i := 0; i < len(value); {
		if HasPrefix(value[i:], x) {
			return true
		}
		_, size := foldNext(value[i:])
		i += size
	}
	return false
}

// genPieces generates text or a pattern from a few pieces, so that matches are likely.
func genPieces(t *rapid.T, name string, maxLength int, pieces ...string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, maxLength).Draw(t, name), "")
}

// TestSearchAgainstNaive compares Match with backtrackingMatch.
func TestSearchAgainstNaive(t *testing.T) {
	texts := []string{
		"a", "A", "b", "k", "\u212a", "é", "É", "日", "𐐀", "𐐨", " ", "\xff", "\xc3", "\xa9", "\x80",
		strings.Repeat("ab", 40),
	}
	wildcards := []string{
		"%", "%", "_", "_", "[ab]", "[^a]", "[a-k]", "[^é-日]", "[k-a]", "[]",
		strings.Repeat("_", 70), strings.Repeat("a_", 70),
	}
	patterns := append(wildcards, texts...)
	rapid.Check(t, func(t *rapid.T) {
		pattern := genPieces(t, "pattern", 12, patterns...)
		value := []byte(genPieces(t, "text", 30, texts...))
		p := CompileLike(pattern)
		if got, want := p.match(value, 0, nil), backtrackingMatch(p, value); got != want {
			t.Fatalf("%q LIKE %q = %v, want %v", value, pattern, got, want)
		}
	})
}

// TestContainsAgainstNaive compares a %literal% pattern with naiveContains.
func TestContainsAgainstNaive(t *testing.T) {
	texts := []string{"a", "A", "k", "\u212a", "é", "É", "日", "𐐀", "𐐨", " ", "\xff", "\xfe", "\xc3", "\xa9", "\x80", "\xe6\x97"}
	rapid.Check(t, func(t *rapid.T) {
		x := genPieces(t, "x", 4, texts...)
		size := rapid.SampledFrom([]int{0, 507, 511, 512}).Draw(t, "before")
		before := strings.Repeat("x", size) // contains no start of x
		value := genPieces(t, "text", 12, texts...)
		got := contains([]byte(before+value), []byte(x))
		if want := naiveContains([]byte(value), []byte(x)); got != want {
			t.Fatalf("%q after %d bytes contains %q: got %v, want %v", value, size, x, got, want)
		}
	})
}

func FuzzContains(f *testing.F) {
	for _, seed := range [][2]string{{"abc", "B"}, {"\xff\xff\xc3\xa9", "\xc3"}, {"\u212a", "k"}, {"a ", " "}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, value, x string) {
		if got, want := contains([]byte(value), []byte(x)), naiveContains([]byte(value), []byte(x)); got != want {
			t.Errorf("%q contains %q = %v, want %v", value, x, got, want)
		}
	})
}

func BenchmarkWorstLike(b *testing.B) {
	for name, c := range worstCases {
		p := CompileLike(c.pattern)
		text := []byte(c.text)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Match(text)
			}
		})
	}
}

func BenchmarkWorstContains(b *testing.B) {
	text := []byte(strings.Repeat("a", 1<<20))
	for name, x := range map[string]string{
		"end":    strings.Repeat("a", 3999) + "b",
		"middle": strings.Repeat("a", 2000) + "b" + strings.Repeat("a", 1999),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				contains(text, []byte(x))
			}
		})
	}
}

// BenchmarkContains searches texts typical of business data.
func BenchmarkContains(b *testing.B) {
	text := []byte("Galvanised hexagon bolt M12 x 40, box of 100")
	for name, value := range map[string][]byte{"short": text, "4 KB": []byte(strings.Repeat(string(text), 100))} {
		for _, x := range []string{"BOLT m12", "nothing"} {
			b.Run(name+"/"+x, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					contains(value, []byte(x))
				}
			})
		}
	}
}
