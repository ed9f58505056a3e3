package encode

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

func TestJSONNumber(t *testing.T) {
	tests := []struct {
		in     string
		number bool
	}{
		{in: "0", number: true},
		{in: "-0", number: true},
		{in: "7", number: true},
		{in: "-7", number: true},
		{in: "0.5", number: true},
		{in: "-0.50", number: true},
		{in: "10.00", number: true},
		{in: "1234567890.123456789", number: true},
		{in: strings.Repeat("9", 38), number: true},
		{in: "-0." + strings.Repeat("0", 37) + "1", number: true},
		{in: "", number: false},
		{in: "-", number: false},
		{in: ".", number: false},
		{in: "-.", number: false},
		{in: ".5", number: false},
		{in: "5.", number: false},
		{in: "0.", number: false},
		{in: "00", number: false},
		{in: "01.5", number: false},
		{in: "-01", number: false},
		{in: "+1", number: false},
		{in: "--1", number: false},
		{in: "1.2.3", number: false},
		{in: "..", number: false},
		{in: "0..1", number: false},
		{in: "1-2", number: false},
		{in: "1e5", number: false},
		{in: "1,5", number: false},
		{in: " 1", number: false},
		{in: "1 ", number: false},
		{in: "NaN", number: false},
		{in: "Infinity", number: false},
		{in: "0x10", number: false},
		{in: "null", number: false},
		{in: "1\n", number: false},
		{in: "١", number: false},
		{in: "\x00", number: false},
		{in: `1"`, number: false},
	}

	for _, test := range tests {
		if got := isJSONNumber([]byte(test.in)); got != test.number {
			t.Errorf("%q: got %v", test.in, got)
		}
		want := `{"V":` + test.in + `}`
		if !test.number {
			quoted, _ := json.Marshal(test.in)
			want = `{"V":` + string(quoted) + `}`
		}
		got := rowOf(format(t, "json"), Shape{Columns: []Column{{
			Name: "V",
			Type: record.Decimal,
		}}}, text(test.in))
		if got != want {
			t.Errorf("%q: got %s, want %s", test.in, got, want)
		}
	}
}

// TestJSONOfDoublesInTexts writes doubles that another program has stored as texts.
func TestJSONOfDoublesInTexts(t *testing.T) {
	for text, want := range map[string]string{
		"1.50":  "1.50",
		"-0":    "-0",
		"00120": `"00120"`,
		"-00.5": `"-00.5"`,
		"1.":    `"1."`,
	} {
		cell := row.Cell{Class: row.Text, Data: []byte(text)}
		got := rowOf(format(t, "json"), Shape{Columns: []Column{{"V", record.Double}}}, cell)
		if got != `{"V":`+want+`}` {
			t.Errorf("the text %q is written as %s, want the value %s", text, got, want)
		}
	}
}

func TestJSONText(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"a":[1,2.50,{"b":null}]}`, `{"a":[1,2.50,{"b":null}]}`},
		{"{\r\n\t\"a\": 1\n}", "{  \t\"a\": 1 }"},
		{"\"a\u2028b\"", `"a\u2028b"`},
		{"\"a\xff\"", `"a�"`},
		{"", `""`},
		{"{", `"{"`},
		{"{} {}", `"{} {}"`},
		{"</x>\n", `"</x>\n"`},
	}
	for _, test := range tests {
		for _, typ := range []record.Type{record.Dictionary, record.Object} {
			got := rowOf(format(t, "ndjson"), Shape{Columns: []Column{{"V", typ}}}, text(test.in))
			if want := `{"V":` + test.want + "}\n"; got != want {
				t.Errorf("%s %q: got %q, want %q", typ, test.in, got, want)
			}
		}
	}
}

func TestJSONOfNoColumns(t *testing.T) {
	if got := rowOf(format(t, "json"), Shape{}); got != "{}" {
		t.Errorf("got %s", got)
	}
}

// FuzzJSON checks that encoding/json reads back the output of the encoder.
func FuzzJSON(f *testing.F) {
	f.Add([]byte("5\" \\ \x00\x1f\xff\u2028😀"), "12.50", int64(-1), []byte(`{"a":[1,"\n"]}`))
	f.Add([]byte(""), "", int64(0), []byte(""))
	f.Add([]byte("\xed\xa0\x80"), "-.5", int64(1)<<62, []byte("[1,\n2]"))
	f.Add([]byte("</script>"), "1e5", int64(9), []byte("\"\xff\""))
	shape := Shape{Columns: []Column{
		{Name: "Text", Type: record.Text},
		{Name: "Guid", Type: record.Guid},
		{Name: "Bytes", Type: record.Bytes},
		{Name: "Decimal", Type: record.Decimal},
		{Name: "Long", Type: record.Long},
		{Name: "Object", Type: record.Object},
	}}

	f.Fuzz(func(t *testing.T, data []byte, digits string, n int64, object []byte) {
		cells := []row.Cell{{Data: data}, {Data: data}, {Data: data}, text(digits), number(n), {Data: object}}
		line := rowOf(format(t, "ndjson"), shape, cells...)
		if strings.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("not one line: %q", line)
		}
		var got struct {
			Text, Guid, Bytes string
			Decimal, Object   json.RawMessage
			Long              int64
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if want := string([]rune(string(data))); got.Text != want || got.Guid != want {
			t.Errorf("text %q and guid %q, want %q", got.Text, got.Guid, want)
		}
		if want := base64.StdEncoding.EncodeToString(data); got.Bytes != want {
			t.Errorf("bytes %s, want %s", got.Bytes, want)
		}
		if got.Long != n {
			t.Errorf("long %d, want %d", got.Long, n)
		}
		checkDecimal(t, got.Decimal, digits)
		checkObject(t, got.Object, object)
	})
}

func checkDecimal(t *testing.T, got json.RawMessage, digits string) {
	if got[0] != '"' {
		if string(got) != digits {
			t.Errorf("decimal %s, want %q", got, digits)
		}
		return
	}
	var quoted string
	if err := json.Unmarshal(got, &quoted); err != nil || quoted != string([]rune(digits)) {
		t.Errorf("decimal %s, want %q quoted (%v)", got, digits, err)
	}
}

func checkObject(t *testing.T, got json.RawMessage, object []byte) {
	var have, want any
	if err := json.Unmarshal(got, &have); err != nil {
		t.Fatal(err)
	}
	want = string([]rune(string(object)))
	if json.Valid(object) {
		decoder := json.NewDecoder(bytes.NewReader(object))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		decoder = json.NewDecoder(bytes.NewReader(got))
		decoder.UseNumber()
		if err := decoder.Decode(&have); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("object %s, want %s", got, object)
	}
}
