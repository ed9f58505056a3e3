package tsql

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// worst are patterns of up to 4,000 characters, each with a text of 1 MB, that
// take a matcher which tries every place the product of the lengths. None
// matches.
var worst = func() map[string][2]string {
	const size, most = 1 << 20, 4000
	repeat := func(s string, characters int) string { return strings.Repeat(s, characters/utf8.RuneCountInString(s)) }
	text := func(s string) string { return strings.Repeat(s, size/len(s)) }
	a := text("a")
	all := map[string][2]string{
		"percents":            {repeat("%a", most-2) + "%b", a},
		"percents and sets":   {repeat("%[ab]_", most-2) + "%b", a},
		"literal, near miss":  {"%" + repeat("a", most-3) + "b%", a},
		"literal, last":       {"%" + repeat("a", most-2) + "b", a},
		"underscores":         {"%" + repeat("a_", most-4) + "ab%", a},
		"underscores alone":   {"%" + repeat("_", most-3) + "b%", a},
		"underscores, spaces": {"%" + repeat("_", most-3) + "b", text(" ")},
		"sets":                {"%" + repeat("[ab]", most-4) + "c%", a},
		"sets, negated":       {"%" + repeat("[^b]", most-4) + "b%", a},
		"a large set":         {"%[" + many(most-5) + "]b%", a},
		"large sets":          {"%" + repeat("["+many(37)+"a]", most-80) + "b%", a},
		"a period":            {"%" + repeat("ab", most-6) + "_aa%", text("ab")},
		"two bytes":           {"%" + repeat("é_", most-3) + "e%", text("é")},
		"three bytes":         {"%" + repeat("日_", most-3) + "月%", text("日")},
		"damaged":             {"%" + repeat("\xff_", most-3) + "b%", text("\xff")},
		"behind a literal":    {"%a%" + repeat("a_", most-6) + "b%", a},
	}
	for name, c := range all {
		if n := utf8.RuneCountInString(c[0]); n > most || n < most-100 {
			panic(fmt.Sprintf("%s has %d characters", name, n))
		}
	}
	return all
}()

// many are n different characters, none of which is a letter of ASCII.
func many(n int) string {
	var b strings.Builder
	for r := range rune(n) {
		b.WriteRune(0x400 + 2*r)
	}
	return b.String()
}

// A match takes work that grows with the text alone: so many steps, and a search
// that passes over each rune once, as the number of times shows that it asks
// whether to stop.
func TestWorstPatterns(t *testing.T) {
	for name, c := range worst {
		p, text := CompileLike(c[0]), []byte(c[1][:len(c[1])/24/12*12])
		asked, stars := 0, strings.Count(c[0], "%")
		if p.MatchUntil(text, func() bool { asked++; return false }) {
			t.Errorf("%s: matches", name)
		}
		if most := utf8.RuneCount(text)/stopEvery + stars; asked > most {
			t.Errorf("%s: asked %d times, more than %d, whether to stop", name, asked, most)
		}
		m := matcher{words: p.words, text: text, end: len(text), star: -1, steps: freeSteps + len(text)}
		m.run(nil)
		if m.steps < -2*len(p.words) {
			t.Errorf("%s: %d steps too many", name, -m.steps)
		}
	}
}

// A match that is told to stop does.
func TestStop(t *testing.T) {
	for name, c := range worst {
		want, asked := 1, 0
		if strings.HasPrefix(name, "percents") || name == "literal, last" {
			want = 0 // no search is long
		}
		if p := CompileLike(c[0]); p.match([]byte(c[1]), 0, func() bool { asked++; return true }) || asked < want || asked > 1 {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
	asked, text := 0, []byte(strings.Repeat("é", 1<<20)+"b")
	if CompileLike("%b%").match(text, 0, func() bool { asked++; return asked == 3 }) || asked != 3 {
		t.Errorf("asked %d times", asked)
	}
	if !CompileLike("%éb%").match(text, 0, func() bool { return false }) {
		t.Error("not found")
	}
}

// naiveMatch is how Match was: it tries each place for the elements behind the
// last star.
func naiveMatch(p *Pattern, text []byte) bool {
	m := matcher{words: p.words, text: text, end: len(trimSpaces(text)), star: -1, steps: 1 << 62}
	return m.run(nil)
}

// naiveContains tries each place.
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

// drawn are pieces of text or pattern, joined; few of them, so that they meet.
func drawn(t *rapid.T, name string, most int, pieces ...string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, most).Draw(t, name), "")
}

// A search finds what trying each place finds.
func TestSearchAgainstNaive(t *testing.T) {
	texts := []string{"a", "A", "b", "k", "\u212a", "é", "É", "日", "𐐀", "𐐨", " ", "\xff", "\xc3", "\xa9", "\x80", strings.Repeat("ab", 40)}
	patterns := append([]string{"%", "%", "_", "_", "[ab]", "[^a]", "[a-k]", "[^é-日]", "[k-a]", "[]", strings.Repeat("_", 70), strings.Repeat("a_", 70)}, texts...)
	rapid.Check(t, func(t *rapid.T) {
		pattern, value := drawn(t, "pattern", 12, patterns...), []byte(drawn(t, "text", 30, texts...))
		p := CompileLike(pattern)
		if got, want := p.match(value, 0, nil), naiveMatch(p, value); got != want {
			t.Fatalf("%q LIKE %q = %v, want %v", value, pattern, got, want)
		}
	})
}

// A pattern finds a text where trying each place finds it.
func TestContainsAgainstNaive(t *testing.T) {
	texts := []string{"a", "A", "k", "\u212a", "é", "É", "日", "𐐀", "𐐨", " ", "\xff", "\xfe", "\xc3", "\xa9", "\x80", "\xe6\x97"}
	rapid.Check(t, func(t *rapid.T) {
		x := drawn(t, "x", 4, texts...)
		before := strings.Repeat("x", rapid.SampledFrom([]int{0, 507, 511, 512}).Draw(t, "before")) // in which no x begins
		value := drawn(t, "text", 12, texts...)
		if got, want := contains([]byte(before+value), []byte(x)), naiveContains([]byte(value), []byte(x)); got != want {
			t.Fatalf("%q behind %d bytes contains %q = %v, want %v", value, len(before), x, got, want)
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
	for name, c := range worst {
		p, text := CompileLike(c[0]), []byte(c[1])
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

// BenchmarkContains looks through texts as they are in business data.
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
