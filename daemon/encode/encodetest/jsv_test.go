package encodetest

import (
	"reflect"
	"strings"
	"testing"
)

// TestBrokenJSV checks that the reader reports the mistakes of an encoder: in the ends of texts,
// lists and objects, and the separators.
func TestBrokenJSV(t *testing.T) {
	for _, text := range []string{
		"{a:1",
		"{a:[1",
		"{a:[1}",
		"{a",
		"{a}",
		"{a:1,",
		"{a:1,}",
		`{a:"x"b:1}`,
		`{"a"b:1}`,
		"{a:{b:1}c:2}",
		"{a,b:1}",
		"[1",
		"[1,2",
		"[1[2]]",
		`["x"y]`,
		`"x`,
		`"x""`,
		"{a:1}b",
		"a,b",
		"]",
	} {
		if value, err := JSV(text); err == nil {
			t.Errorf("%s was read as %v without an error", text, value)
		}
	}
}

// TestJSV reads each kind of value.
func TestJSV(t *testing.T) {
	const text = `{a:x y,"b,""c""":"",list:[1,,"[]"],none:,empty:[],object:{}}`
	want := map[string]any{
		"a":      "x y",
		`b,"c"`:  "",
		"list":   []any{"1", nil, "[]"},
		"none":   nil,
		"empty":  []any{},
		"object": map[string]any{},
	}
	got, err := JSV(text)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s was read as %v (%v), want %v", text, got, err, want)
	}
}

// TestJSVRows reads responses, correct and wrong ones.
func TestJSVRows(t *testing.T) {
	rows, err := readJSV([]byte(`{Offset:0,Results:[{A:1,B:},{A:"x,y"}]}`), nil)
	want := []Row{{"A": "1"}, {"A": "x,y"}}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("read %v (%v), want %v", rows, err, want)
	}
	for text, message := range map[string]string{
		"{Offset:0,Results:[{A:1":     "expected a comma or } after the value of A",
		"[]":                          "the response is []interface {}, not an object",
		"{Offset:0}":                  "the member Results is <nil>, not a list",
		"{Results:5}":                 "the member Results is string, not a list",
		"{Results:[{A:1},5]}":         "row 2: it is string, not an object",
		"{Results:[{A:1},{A:[1,2]}]}": "row 2: A is []interface {}, not a text",
	} {
		rows, err := readJSV([]byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: read %v (%v), want the error %q", text, rows, err, message)
		}
	}
}
