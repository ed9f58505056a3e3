package query

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

func TestReadForm(t *testing.T) {
	for raw, want := range map[string]Members{
		"":                     nil,
		"&&=&":                 nil,
		"a=b":                  {{Name: "a", Texts: []string{"b"}}},
		"a=b=c":                {{Name: "a", Texts: []string{"b=c"}}},
		"a+b=%26%3d+%2B":       {{Name: "a b", Texts: []string{"&= +"}}},
		"a=":                   {{Name: "a", Empty: true}},
		"a":                    {{Name: "a", Empty: true}},
		"=b":                   {{Name: "", Texts: []string{"b"}}},
		"a=1&A=2&b=3&a=4":      {{Name: "a", Texts: []string{"1", "2", "4"}}, {Name: "b", Texts: []string{"3"}}},
		"a=&a=1&a=":            {{Name: "a", Texts: []string{"1"}}},
		"a=1;b=2":              {{Name: "a", Texts: []string{"1;b=2"}}},
		"%C3%A9=%F0%9F%98%80":  {{Name: "é", Texts: []string{"😀"}}},
		"a=[x,\"y,z\"]&b=null": {{Name: "a", Texts: []string{`[x,"y,z"]`}}, {Name: "b", Texts: []string{"null"}}},
	} {
		got, err := ReadForm(raw)
		if err != nil || !sameMembers(got, want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", raw, got, err, want)
		}
	}
}

func TestReadFormRefuses(t *testing.T) {
	for _, raw := range []string{"a=%", "a=%4", "a=%zz", "%zz=a", "a=%ff", "%c3=a", "a=\xff"} {
		if got, err := ReadForm(raw); !fault.Is(err, fault.Malformed) {
			t.Errorf("reading %q: got %+v and the error %v, want a fault of kind %v", raw, got, err, fault.Malformed)
		}
	}
}

// TestReadFormKeepsSecrets checks that invalid pairs, which may contain a password,
// are not repeated in errors.
func TestReadFormKeepsSecrets(t *testing.T) {
	_, err := ReadForm("UserName=ann&Password=hush%zz")
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "Password") {
		t.Errorf("reading a password with an invalid escape: got the error %v, want one with its name and without its value", err)
	}
}

// TestReadFormLarge would take minutes if ReadForm had quadratic complexity.
func TestReadFormLarge(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		b.WriteString("&m" + strconv.Itoa(i) + "=1")
	}
	for range 100_000 {
		b.WriteString("&M99999=2")
	}
	got, err := ReadForm(b.String())
	if err != nil || len(got) != 100_000 || len(got[99_999].Texts) != 100_001 {
		t.Errorf("got %d members (%v), want 100000, the last one with 100001 texts", len(got), err)
	}
}

// FuzzReadForm compares with net/url.
func FuzzReadForm(f *testing.F) {
	for _, seed := range []string{"a=b&c=d", "a=1&A=2", "a=%26+%2B", "a=%zz", "a=1;b=2", "&=&a&=x", "a=%ff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := ReadForm(raw)
		want, wrong := url.ParseQuery(raw)
		if wrong != nil {
			return // net/url rejects ; as well
		}
		if err != nil {
			for name, texts := range want {
				isInvalid := func(s string) bool { return !utf8.ValidString(s) }
				if isInvalid(name) || slices.ContainsFunc(texts, isInvalid) {
					return
				}
			}
			t.Fatalf("%q is refused, although net/url reads it: %v", raw, err)
		}

		// net/url keeps names that differ in letter case apart.
		counts := make(map[string]int)
		for name, texts := range want {
			for _, text := range texts {
				if text != "" {
					counts[foldName(name)+"="+text]++
				}
			}
		}
		for _, m := range got {
			for _, text := range m.Texts {
				counts[foldName(m.Name)+"="+text]--
			}
			same := want[m.Name]
			isMissing := len(same) > len(m.Texts) && !slices.Contains(same, "")
			if m.Empty != (len(m.Texts) == 0) || isMissing {
				t.Fatalf("%q: %+v, want %q", raw, m, same)
			}
		}
		for pair, n := range counts {
			if n != 0 {
				t.Fatalf("%q: %s is missing %d times", raw, pair, n)
			}
		}
	})
}
