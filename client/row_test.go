package client_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
)

func TestValuesOfColumns(t *testing.T) {
	row, err := client.ParseRow([]byte(` {"A":"x","B":1.50,"C":null,"D":true,"E":{"k":[1,"}"]},"\u0046":"f"} `))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range row.Values(nil, []string{"A", "C", "E", "F", "B", "missing", "D"}) {
		text := v.String()
		if v.Null() {
			text = "null"
		}
		got = append(got, text)
	}
	want := []string{"x", "null", `{"k":[1,"}"]}`, "f", "1.50", "null", "true"}
	if !slices.Equal(got, want) {
		t.Errorf("values %q, want %q", got, want)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	text := []byte(`{"A":"x","B":1}`)
	row, err := client.ParseRow(text)
	if err != nil {
		t.Fatal(err)
	}
	clone := row.Clone()
	copy(text, bytes.Repeat([]byte("-"), len(text)))
	if clone.Text("A") != "x" || string(clone.JSON()) != `{"A":"x","B":1}` {
		t.Errorf("the clone has changed to %s", clone.JSON())
	}
}

// FuzzParseRow compares the scanner with encoding/json: both accept the same texts and
// return the same names and values in the same order.
func FuzzParseRow(f *testing.F) {
	for _, seed := range []string{
		// Valid objects.
		`{}`,
		` { } `,
		`{"":0}`,
		`{"a":1}`,
		`{"a":1,"a":2}`,
		`{"a":-0.5e+10,"b":"x\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83d"}`,
		`{"a":[1,[2,{}],{"b":null}],"c":true,"d":false,"e":null}`,
		`{"a":"` + "\ud7ff" + `"}`,
		strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50),

		// Invalid values and strings.
		`{"a":01}`,
		`{"a":1.}`,
		`{"a":-}`,
		`{"a":1e}`,
		`{"a":tru}`,
		`{"a":nulll}`,
		`{"a":"\x"}`,
		`{"a":"\u12g4"}`,
		"{\"a\":\"\x01\"}",
		"{\"a\":\"\xff\xfe\"}",
		"{\"a\xff\":1}",

		// Invalid structure.
		``,
		`[1]`,
		`"x"`,
		`{,}`,
		`{"a"}`,
		`{"a":}`,
		`{"a":1,}`,
		`{"a":1}}`,
		`{"a":[}`,
		`{"a":[1 2]}`,
		`{"a":{"b":1,"c"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		row, err := client.ParseRow(text)
		var object json.RawMessage
		isObject := json.Unmarshal(text, &object) == nil && bytes.TrimLeft(text, " \t\r\n")[0] == '{'
		if (err == nil) != isObject {
			t.Fatalf("%q: error %v, valid object for encoding/json: %v", text, err, isObject)
		}
		if err == nil {
			compareMembers(t, row, text)
		}
	})
}

// compareMembers compares the members of a row with those that encoding/json reads.
func compareMembers(t *testing.T, row client.Row, text []byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil { // the opening brace
		t.Fatal(err)
	}
	for name, value := range row.All() {
		wantName, err := dec.Token()
		if err != nil || wantName != name {
			t.Fatalf("%q: name %q, want %q (%v)", text, name, wantName, err)
		}
		var want json.RawMessage
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := value.String(); got != plainText(t, want) {
			t.Fatalf("%q: %s is %q, want %q", text, name, got, plainText(t, want))
		}
	}
	if dec.More() {
		t.Fatalf("%q: the row lacks members", text)
	}
}

// plainText returns the expected result of AppendText.
func plainText(t *testing.T, value json.RawMessage) string {
	switch value[0] {
	case 'n':
		return ""
	case '"':
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	return string(value)
}
