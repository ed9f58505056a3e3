package query

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/fault"
)

func TestReadCSV(t *testing.T) {
	for body, want := range map[string]Members{
		"":                                   nil,
		"\r\n\r\n":                           nil,
		"a,b\r\n1,\r\n":                      {{Name: "a", Texts: []string{"1"}}, {Name: "b", Empty: true}},
		"a,b\n1,2":                           {{Name: "a", Texts: []string{"1"}}, {Name: "b", Texts: []string{"2"}}},
		"\ufeffa\n1\n":                       {{Name: "a", Texts: []string{"1"}}},
		"a, B \n\"1,\"\"2\"\"\", x\n":        {{Name: "a", Texts: []string{`1,"2"`}}, {Name: "B", Texts: []string{" x"}}},
		"\"a\"\r\n\"[x,\"\"y,z\"\"]\"\r\n":   {{Name: "a", Texts: []string{`[x,"y,z"]`}}},
		"InvoiceID\r\n\"first\nsecond\"\r\n": {{Name: "InvoiceID", Texts: []string{"first\nsecond"}}},
	} {
		got, err := readCSV([]byte(body))
		if err != nil || !sameMembers(got, want) {
			t.Errorf("%q\ngot  %+v, %v\nwant %+v", body, got, err, want)
		}
	}
}

func TestReadCSVRefuses(t *testing.T) {
	for _, body := range []string{"a", "a\n1\n2\n", "a,b\n1\n", "a\n1,2\n", "a\n\"1\n", "a\n1\"2\n", "a,A\n1,2\n", "a\n\xff\n"} {
		if got, err := readCSV([]byte(body)); !fault.Is(err, fault.Malformed) {
			t.Errorf("reading %q: got %+v and the error %v, want a fault of kind %v",
				body, got, err, fault.Malformed)
		}
	}
}

// FuzzReadCSV writes the members that were read and reads them again.
func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{"a,b\r\n1,\"2,3\"\r\n", "a\n1", "\ufeffa\n\"\"\"\"\n", "a\n", "a,a\n1,2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readCSV(body)
		if err != nil || len(got) == 0 {
			return
		}
		var names, values []string
		for _, m := range got {
			names = append(names, m.Name)
			values = append(values, strings.Join(m.Texts, ""))
		}
		if len(got) == 1 && (names[0] == "" || values[0] == "") {
			return // an empty line, which CSV readers skip
		}
		if strings.Contains(strings.Join(slices.Concat(values, names), ""), "\r") {
			return // CSV readers convert line ends to \n
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.WriteAll([][]string{names, values})
		reread, err := readCSV(append([]byte("\ufeff"), b.Bytes()...))
		if err != nil || !sameMembers(got, reread) {
			t.Fatalf("%q: got %+v, then %+v, %v", body, got, reread, err)
		}
	})
}

// TestCSVKeepsLineBreaks checks that a value has the line breaks that were sent.
func TestCSVKeepsLineBreaks(t *testing.T) {
	const body = "Note,Other\r\n\"a\r\nb\nc\rd\",\"x\"\"\r\n\"\r\n"
	got, err := readCSV([]byte(body))
	want := Members{text("Note", "a\r\nb\nc\rd"), text("Other", "x\"\r\n")}
	if err != nil || !sameMembers(got, want) {
		t.Errorf("reading %q: got %+v (%v), want %+v", body, got, err, want)
	}
}
