package encode

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode/encodetest"
)

func TestJSVObject(t *testing.T) {
	tests := []struct{ in, want string }{
		{
			in:   `{"a": "b", "n": -1.5e3, "t": true, "f": false, "z": null, "e": ""}`,
			want: `{a:b,n:-1.5e3,t:True,f:False,z:,e:""}`,
		},
		{in: "[ 1,\n [ ], { } ]", want: "[1,[],{}]"},
		{in: `{"a:b":"c:d","x,":"y,"}`, want: `{"a:b":c:d,"x,":"y,"}`},
		{in: `"say \"hi\" \u00e9\ud83d\ude00\\"`, want: `"say ""hi"" é😀\"`},
		{in: `{"a" : {"b\n":["c]"]}}`, want: "{a:{\"b\n\":[\"c]\"]}}"},
		{in: `not json`, want: "not json"},
		{in: `{not json}`, want: `"{not json}"`},
		{in: ``, want: `""`},
	}
	for _, test := range tests {
		got := rowOf(format(t, "jsv"), Shape{Columns: []Column{{"V", record.Object}}}, text(test.in))
		if want := "{V:" + test.want + "}"; got != want {
			t.Errorf("%s: got %s, want %s", test.in, got, want)
		}
	}
}

// asJSV converts a value of encoding/json to the value that a JSV reader can recover: values
// other than objects, lists and null become strings, and a list of one null becomes
// empty.
func asJSV(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = asJSV(v[name])
		}
		return v
	case []any:
		if len(v) == 1 && v[0] == nil {
			return []any{}
		}
		for i := range v {
			v[i] = asJSV(v[i])
		}
		return v
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return string(appendTitleBool(nil, v))
	}
	return nil
}

// FuzzJSV reads back arbitrary JSON that was converted to JSV.
func FuzzJSV(f *testing.F) {
	f.Add([]byte(`{"a:b":[1,-2.5e3,true,null,"x,\"y\"\\"],"":{"b":""},"c":[null]}`))
	f.Add([]byte("[[],[null],[null,null],{\"\\u0022\\ud800\":\"\xff\"}]"))
	f.Add([]byte(` "a" `))
	f.Fuzz(func(t *testing.T, object []byte) {
		if !json.Valid(object) {
			t.Skip("JSON only")
		}
		var want any
		decoder := json.NewDecoder(bytes.NewReader(object))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		jsv := string(appendJSV(nil, object))
		got, err := encodetest.JSV(jsv)
		if err != nil || !reflect.DeepEqual(got, asJSV(want)) {
			t.Errorf("%q became %q, which was read as %v (%v), want %v", object, jsv, got, err, asJSV(want))
		}
	})
}
