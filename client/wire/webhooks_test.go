package wire

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
)

func TestTimestampJSON(t *testing.T) {
	at := time.Date(2018, 7, 3, 23, 20, 12, 345_000_000, time.UTC)
	text, err := json.Marshal(Timestamp(at))
	if err != nil || string(text) != `"/Date(1530660012345+0000)/"` {
		t.Fatal(string(text), err)
	}
	for _, form := range []string{string(text), `"2018-07-03T23:20:12.3450000"`, `"2018-07-03T23:20:12.345Z"`, `"\/Date(1530660012345)\/"`} {
		var got Timestamp
		if err := json.Unmarshal([]byte(form), &got); err != nil || !time.Time(got).Equal(at) {
			t.Errorf("%s is decoded as %v, %v", form, time.Time(got), err)
		}
	}
	if text, _ := json.Marshal(Timestamp{}); string(text) != "null" {
		t.Error(string(text))
	}
	for _, form := range []string{`1`, `"soon"`, `"/Date(x)/"`} {
		if err := json.Unmarshal([]byte(form), new(Timestamp)); err == nil {
			t.Errorf("no error for %s", form)
		}
	}
}

// TestStructsMatchKinds checks that the structs of webhook resources have all fields of
// their kinds, with matching types.
func TestStructsMatchKinds(t *testing.T) {
	for name, document := range map[string]any{"Attempt": Attempt{}, "Subscriber": Subscriber{}, "Subscription": Subscription{}} {
		kind, _ := record.System().Lookup(name)
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(document)) {
			if f.Anonymous {
				continue
			}
			member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			member = cmp.Or(member, f.Name)
			fields = append(fields, member)
			column, ok := kind.Column(member)
			if !ok {
				if name == "Attempt" {
					t.Errorf("the kind has no field for %s.%s", name, f.Name)
				}
				continue
			}
			if want := kind.Fields[column].Type; !slices.Contains(goTypes[want], f.Type) {
				t.Errorf("%s.%s has type %s, which does not match the field's type %s", name, f.Name, f.Type, want)
			}
		}
		for _, field := range kind.FieldNames() {
			if !slices.Contains(fields, field) {
				t.Errorf("%s has no field %s", name, field)
			}
		}
	}
}

var goTypes = map[record.Type][]reflect.Type{
	record.Text:     {reflect.TypeFor[string](), reflect.TypeFor[*string]()},
	record.Long:     {reflect.TypeFor[int64]()},
	record.Int:      {reflect.TypeFor[int](), reflect.TypeFor[*int]()},
	record.Bool:     {reflect.TypeFor[bool]()},
	record.Bytes:    {reflect.TypeFor[[]byte]()},
	record.Epoch:    {reflect.TypeFor[Timestamp]()},
	record.TimeSpan: {reflect.TypeFor[string]()},
	record.Object:   {reflect.TypeFor[json.RawMessage]()},
}
