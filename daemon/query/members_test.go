package query

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestUnion(t *testing.T) {
	member := func(name, text string) Member { return Member{Name: name, Texts: []string{text}} }
	path := Members{member("BillID", "path")}
	query := Members{member("billid", "query"), member("Take", "5"), {Name: "Skip", Empty: true}}
	body := Members{
		member("BILLID", "body"),
		member("TAKE", "6"),
		member("skip", "7"),
		{Name: "Fields", Empty: true},
		member("OrderBy", "a"),
	}
	for name, c := range map[string]struct{ path, query, body, want Members }{
		"none":            {nil, nil, nil, nil},
		"body alone":      {nil, nil, body, body},
		"query alone":     {nil, query, nil, query},
		"query over body": {nil, query, body, Members{query[0], query[1], body[2], body[3], body[4]}},
		"path over all":   {path, query, body, Members{path[0], query[1], body[2], body[3], body[4]}},
	} {
		if got := Union(c.path, c.query, c.body); !sameMembers(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	Union(path, query, body)
	if query[2].Texts != nil || len(path) != 1 {
		t.Errorf("Union changed its arguments to %+v and %+v", path, query)
	}
}

func TestUnionOfMany(t *testing.T) {
	var query, body Members
	for i := range 50_000 {
		query = append(query, Member{Name: "q" + strconv.Itoa(i)})
		body = append(body, Member{Name: "Q" + strconv.Itoa(i*2)})
	}
	if got := Union(nil, query, body); len(got) != 75_000 {
		t.Errorf("the union of 50000 members each, of which 25000 are the same, has %d, want 75000", len(got))
	}
}

func TestGet(t *testing.T) {
	all := Members{{Name: "Take", Texts: []string{"5", "6"}}, {Name: "Skip", Empty: true}}
	if got := all.Text("tAKE"); got != "5" {
		t.Errorf("the text of tAKE is %q, want 5", got)
	}
	if m, ok := all.Get("skip"); !ok || !m.Empty || all.Text("skip") != "" {
		t.Errorf("skip is %+v, want the empty member Skip", m)
	}
	if m, ok := all.Get("Other"); ok || all.Text("Other") != "" {
		t.Errorf("a member that does not exist is %+v, want none", m)
	}
}

// TestCollector checks that names are found in every letter case, among few members
// and among many.
func TestCollector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("abABsSſkKK İiıI"))), 1, 4*manyMembers).Draw(t, "names")
		var all collector
		var plain Members
		for _, name := range names {
			got, want := all.index(name), plain.index(name)
			if got != want {
				t.Fatalf("%q: index %d, by scanning %d", name, got, want)
			}
			if want >= 0 {
				continue
			}
			all.append(Member{Name: name})
			plain = append(plain, Member{Name: name})
		}
	})
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"InvoiceID":                    "InvoiceID",
		"a\r\nb\x00\x7f":               "a??b??",
		"\u009b31m\u202e\u2028":        "?31m??",
		"Größe":                        "Größe",
		"\xff\ufffd":                   "??",
		strings.Repeat("é", 60):        strings.Repeat("é", 60),
		strings.Repeat("é", 61):        strings.Repeat("é", 60) + "...",
		strings.Repeat("x", 1_000_000): strings.Repeat("x", 60) + "...",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%.70q: got %q, want %q", text, got, want)
		}
	}
}

func TestHeaderSafe(t *testing.T) {
	const text, want = "a, b: é\n", "a? b: ??"
	if got := headerSafe(text); got != want {
		t.Errorf("headerSafe(%q) is %q, want %q", text, got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		got := headerSafe(name)
		isUnsafe := func(r rune) bool { return r < ' ' || r > '~' || r == ',' }
		if len(got) > 63 || strings.ContainsFunc(got, isUnsafe) {
			t.Fatalf("headerSafe(%q) is %q, want at most 63 printable characters", name, got)
		}
	})
}
