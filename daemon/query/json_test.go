package query

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

func TestReadJSON(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want Members
	}{
		"empty object":     {`{}`, nil},
		"white space":      {" {\t\"a\" : \r\n\"b\" } ", Members{{Name: "a", Texts: []string{"b"}}}},
		"text":             {`{"a":"b"}`, Members{{Name: "a", Texts: []string{"b"}}}},
		"empty text":       {`{"a":""}`, Members{{Name: "a", Texts: []string{""}}}},
		"number as spelt":  {`{"a":-1.50E+2}`, Members{{Name: "a", Texts: []string{"-1.50E+2"}}}},
		"long number":      {`{"a":12345678901234567890.12345678901234567890}`, Members{{Name: "a", Texts: []string{"12345678901234567890.12345678901234567890"}}}},
		"booleans":         {`{"a":true,"b":false}`, Members{{Name: "a", Texts: []string{"true"}}, {Name: "b", Texts: []string{"false"}}}},
		"null":             {`{"a":null}`, Members{{Name: "a", Empty: true}}},
		"list":             {`{"a":["b", 1 ,true]}`, Members{{Name: "a", List: true, Texts: []string{"b", "1", "true"}}}},
		"empty list":       {`{"a":[ ]}`, Members{{Name: "a", List: true, Empty: true}}},
		"null in a list":   {`{"a":["b",null,"c"]}`, Members{{Name: "a", List: true, Other: true}}},
		"list in a list":   {`{"a":["b",[1]],"c":2}`, Members{{Name: "a", List: true, Other: true}, {Name: "c", Texts: []string{"2"}}}},
		"object":           {`{"a":{"b":[1,{"a":null}]},"c":2}`, Members{{Name: "a", Other: true}, {Name: "c", Texts: []string{"2"}}}},
		"escapes":          {`{"\u0061\n":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}`, Members{{Name: "a\n", Texts: []string{"\"\\/\b\f\n\r\té😀"}}}},
		"replacement rune": {`{"a":"\ufffd"}`, Members{{Name: "a", Texts: []string{"\ufffd"}}}},
		"meta, any":        {`{"meta":"\ud800","b":1}`, Members{{Name: "meta", Other: true}, {Name: "b", Texts: []string{"1"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadJSON([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if !sameMembers(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// sameMembers compares members, treating nil and empty lists of texts as equal.
func sameMembers(a, b Members) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		x.Raw, y.Raw = "", ""
		if len(x.Texts)+len(y.Texts) == 0 {
			x.Texts, y.Texts = nil, nil
		}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

func TestReadJSONKeepsValuesAsTheyAre(t *testing.T) {
	got, err := ReadJSON([]byte(`{"a": "\u0062" , "Meta":{"x": 1 },"b":[1, null],"c": -1.50E+2}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`"\u0062"`, `{"x": 1 }`, `[1, null]`, `-1.50E+2`}
	for i, m := range got {
		if m.Raw != want[i] {
			t.Errorf("%s is %s, want %s", m.Name, m.Raw, want[i])
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"":                           "the body is not a JSON object",
		"null":                       "the body is not a JSON object",
		`["a"]`:                      "the body is not a JSON object",
		`{`:                          "the JSON body cannot be read at byte 1",
		`{"a"`:                       "the JSON body cannot be read at byte 4",
		`{"a":`:                      "the JSON body cannot be read at byte 5",
		`{"a":1`:                     "the JSON body cannot be read at byte 6",
		`{"a":1,}`:                   "the JSON body cannot be read at byte 7",
		`{"a":1 "b":2}`:              "the JSON body cannot be read at byte 7",
		`{a:1}`:                      "the JSON body cannot be read at byte 1",
		`{"a":'b'}`:                  "the JSON body cannot be read at byte 5",
		`{"a":01}`:                   "the JSON body cannot be read at byte 6",
		`{"a":1.}`:                   "the JSON body cannot be read at byte 7",
		`{"a":.5}`:                   "the JSON body cannot be read at byte 5",
		`{"a":1e}`:                   "the JSON body cannot be read at byte 7",
		`{"a":-}`:                    "the JSON body cannot be read at byte 6",
		`{"a":+1}`:                   "the JSON body cannot be read at byte 5",
		`{"a":NaN}`:                  "the JSON body cannot be read at byte 5",
		`{"a":truth}`:                "the JSON body cannot be read at byte 5",
		`{"a":nullx}`:                "the JSON body cannot be read at byte 9",
		`{"a":"b`:                    "the JSON body cannot be read at byte 7",
		"{\"a\":\"b\nc\"}":           "the JSON body cannot be read at byte 7",
		`{"a":"\x"}`:                 "the JSON body cannot be read at byte 6",
		`{"a":"\u12G4"}`:             "the JSON body cannot be read at byte 6",
		`{"a":"\u12"}`:               "the JSON body cannot be read at byte 6",
		`{"a":"\`:                    "the JSON body cannot be read at byte 6",
		`{"a":[1,]}`:                 "the JSON body cannot be read at byte 8",
		`{"a":[1}`:                   "the JSON body cannot be read at byte 7",
		`{"a":[[1}]}`:                "the JSON body cannot be read at byte 8",
		`{"a":{"b":1]}`:              "the JSON body cannot be read at byte 11",
		`{"a":{"b"}}`:                "the JSON body cannot be read at byte 9",
		`{"a":{"b":1,}}`:             "the JSON body cannot be read at byte 12",
		`{"a":{1:2}}`:                "the JSON body cannot be read at byte 6",
		`{"a":1}}`:                   "unexpected data after the JSON object at byte 7",
		`{"a":1} {"b":2}`:            "unexpected data after the JSON object at byte 8",
		`{"a":1}x`:                   "unexpected data after the JSON object at byte 7",
		"{\"a\":1}\x00":              "unexpected data after the JSON object at byte 7",
		"\ufeff{}":                   "the body is not a JSON object",
		"{\"a\":\"\xff\"}":           "the body is not valid UTF-8",
		`{"a":"\ud800"}`:             "the JSON body has an unpaired surrogate before byte 13",
		`{"a":["x","\udc00\ud800"]}`: "the JSON body has an unpaired surrogate before byte 24",
		`{"\ud800x":1}`:              "the JSON body has an unpaired surrogate before byte 11",
		`{"a":"\ud800\u0041"}`:       "the JSON body has an unpaired surrogate before byte 19",
		`{"a":1,"b":2,"a":2}`:        "duplicate member a in the body",
		`{"a":1,"A":2,"A":3}`:        "duplicate member A in the body",
	} {
		_, err := ReadJSON([]byte(body))
		if !fault.Is(err, fault.Malformed) || fault.From(err).Message != want {
			t.Errorf("%s\ngot  %v\nwant %s", body, err, want)
		}
	}
}

// TestReadJSONLetterCase checks that the last one of several names counts that differ only in
// letter case, and that the others are reported unless they have the same value.
func TestReadJSONLetterCase(t *testing.T) {
	many := strings.Repeat(`"x%d":0,`, manyMembers)
	for _, test := range []struct {
		body, value string
		replaced    []string
	}{
		{`{"Take":5,"take":6}`, "6", []string{"Take"}},
		{`{"Take":5,"take":6,"TAKE":7}`, "7", []string{"Take", "take"}},
		{`{"Take":5,"take":5}`, "5", nil},
		{`{"take":null,"Take":5}`, "5", []string{"take"}},
		{`{"Take":5,"take":null}`, "null", []string{"Take"}},
		{`{` + many + `"Take":5,"take":[6]}`, "[6]", []string{"Take"}},
	} {
		body := test.body
		for n := 0; strings.Contains(body, "%d"); n++ {
			body = strings.Replace(body, "%d", strconv.Itoa(n), 1)
		}
		members, err := ReadJSON([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		m, _ := members.Get("TAKE")
		if m.Raw != test.value || !slices.Equal(members.Replaced(), test.replaced) {
			t.Errorf("%s: Take is %s and %q are replaced, want %s and %q",
				body, m.Raw, members.Replaced(), test.value, test.replaced)
		}
	}
}

// TestReadJSONLarge checks that depth neither slows reading down nor stops it. It would take
// minutes if ReadJSON had quadratic complexity.
func TestReadJSONLarge(t *testing.T) {
	const depth = 10_000
	for name, body := range map[string]string{
		"lists in Meta":   `{"Meta":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"a":1}`,
		"objects in Meta": `{"Meta":` + strings.Repeat(`{"x":`, depth) + "1" + strings.Repeat("}", depth) + `,"a":1}`,
		"a megabyte deep": `{"b":` + strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000) + `,"a":1}`,
		"in a list":       `{"b":[1,2,` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `],"a":1}`,
	} {
		got, err := ReadJSON([]byte(body))
		if err != nil || len(got) != 2 || !got[0].Other || got.Text("a") != "1" {
			t.Errorf("%s: got %d members (%v), want a nested one and a=1", name, len(got), err)
		}
	}
	if _, err := ReadJSON([]byte(`{"Meta":` + strings.Repeat("[", 500_000))); !fault.Is(err, fault.Malformed) {
		t.Errorf("lists that are never closed: got the error %v, want a fault of kind %v", err, fault.Malformed)
	}
}

// TestReadJSONManyMembers would take minutes if ReadJSON had quadratic complexity.
func TestReadJSONManyMembers(t *testing.T) {
	const n = 100_000
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"m` + strconv.Itoa(i) + `":1`)
	}
	members := b.String()[1:]
	got, err := ReadJSON([]byte("{" + members + "}"))
	if err != nil || len(got) != n {
		t.Errorf("got %d members (%v), want %d", len(got), err, n)
	}
	if _, err := ReadJSON([]byte("{" + members + `,"m500":1}`)); !fault.Is(err, fault.Malformed) {
		t.Errorf("a duplicate name among many: got the error %v, want a fault of kind %v", err, fault.Malformed)
	}
}

// FuzzReadJSON compares with encoding/json.
func FuzzReadJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":"b"}`, `{"a":[1,"x",true],"b":null,"C":{"d":[{}]}}`, `{"a":"\u00e9\ud83d\ude00\n"}`, `{"a":"\ud800"}`, `{"a":1,"A":2}`,
		`{"a":-0.5e-3}`, `{"a":01}`, `{"Meta":{"a":"b"}}`, `{"a":[[[]]]}`, `[1]`, `{"a":1}x`, ` {"a" : [ ] } `, "{\"a\":\"\xff\"}", `{"İ":1,"i":2,"ſ":3,"s":4}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := ReadJSON(body)
		var want map[string]any
		dec := json.NewDecoder(strings.NewReader(string(body)))
		dec.UseNumber()
		isObject := json.Valid(body) && dec.Decode(&want) == nil && want != nil
		if err != nil {
			message := fault.From(err).Message
			isStricter := strings.Contains(message, "duplicate") || strings.Contains(message, "surrogate")
			mayRefuse := isStricter || !utf8.Valid(body)
			if isObject && !mayRefuse {
				t.Fatalf("%q is refused, although encoding/json reads it: %v", body, err)
			}
			return
		}
		if !isObject {
			t.Fatalf("%q is read as %+v, although encoding/json refuses it", body, got)
		}

		names := make(map[string]bool)
		for name := range want {
			names[foldName(name)] = true
		}
		if len(got) != len(names) {
			t.Fatalf("%q: %d members, want %d", body, len(got), len(names))
		}
		for _, m := range got {
			v, ok := want[m.Name]
			m.Replaced = nil
			if expected := memberOf(m.Name, v); !ok || !sameMembers(Members{m}, Members{expected}) {
				t.Fatalf("%q: got %+v, want %+v", body, m, expected)
			}
		}
	})
}

// memberOf returns the member for a decoded value.
func memberOf(name string, value any) Member {
	m := Member{Name: name}
	if strings.EqualFold(name, Meta) {
		m.Other = true
		return m
	}
	switch v := value.(type) {
	case nil:
		m.Empty = true
	case map[string]any:
		m.Other = true
	case []any:
		m.List = true
		m.Empty = len(v) == 0
		for _, item := range v {
			text, ok := scalarOf(item)
			if !ok {
				m.Texts = nil
				m.Other = true
				break
			}
			m.Texts = append(m.Texts, text)
		}
	default:
		text, _ := scalarOf(v)
		m.Texts = []string{text}
	}
	return m
}

func scalarOf(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
