package query

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

func TestSplitList(t *testing.T) {
	for text, want := range map[string][]string{
		"":                 nil,
		"[]":               nil,
		"a":                {"a"},
		"a,b":              {"a", "b"},
		"[a,b]":            {"a", "b"},
		" a, b ":           {" a", " b "},
		"a,,b,":            {"a", "", "b", ""},
		",":                {"", ""},
		`""`:               {""},
		`[""]`:             {""},
		`"a,b",c`:          {"a,b", "c"},
		`"say ""a""",""""`: {`say "a"`, `"`},
		`["a", "b" , c]`:   {"a", "b", " c"},
		`a"b,c"`:           {`a"b`, `c"`},
		"[a":               {"[a"},
		"a]":               {"a]"},
		"[[a]]":            {"[a]"},
	} {
		got, err := SplitList(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestSplitListRefuses(t *testing.T) {
	for _, text := range []string{`"`, `"a`, `a,"b`, `"a"b`, `"a" b`, `["a]`, `"say ""a""","""`} {
		if got, err := SplitList(text); err == nil {
			t.Errorf("%s: got %q, want an error", text, got)
		}
	}
}

func TestByteItems(t *testing.T) {
	for text, want := range map[string][]string{
		"":         nil,
		"AQI=":     {"1", "2"},
		"AAH/":     {"0", "1", "255"},
		"1,2":      {"1", "2"},
		"[1,2]":    {"1", "2"},
		"1,23":     {"1", "23"}, // four characters, but not base64
		"255":      {"255"},
		"AQI":      {"AQI"}, // fails as a number later
		"AQJ=":     {"AQJ="},
		"[1, 2,3]": {"1", " 2", "3"},
	} {
		got, err := Member{Texts: []string{text}}.items(record.Byte)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// FuzzSplitList reads back a list with quoted items.
func FuzzSplitList(f *testing.F) {
	for _, seed := range []string{"", "a|b", `a,b|"|""|[|]`, " a | b ", "||", `[a|"b"]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		SplitList(joined) // must not panic
		items := strings.Split(joined, "|")
		if got, err := SplitList(asList(items)); err != nil || !slices.Equal(got, items) {
			t.Fatalf("%q: got %q, %v", items, got, err)
		}
		plain := strings.Map(func(r rune) rune {
			if strings.ContainsRune(`,"[]`, r) {
				return '.'
			}
			return r
		}, joined)
		items = strings.Split(plain, "|")
		for _, text := range []string{strings.Join(items, ","), "[" + strings.Join(items, ",") + "]"} {
			if got, err := SplitList(text); plain != "" && (err != nil || !slices.Equal(got, items)) {
				t.Fatalf("%q: got %q, %v", text, got, err)
			}
		}
	})
}
