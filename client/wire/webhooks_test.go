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

func TestMomentIsALegacyDate(t *testing.T) {
	at := time.Date(2018, 7, 3, 23, 20, 12, 345_000_000, time.UTC)
	text, err := json.Marshal(Timestamp(at))
	if err != nil || string(text) != `"/Date(1530660012345+0000)/"` {
		t.Fatal(string(text), err)
	}
	for _, form := range []string{string(text), `"2018-07-03T23:20:12.3450000"`, `"2018-07-03T23:20:12.345Z"`, `"\/Date(1530660012345)\/"`} {
		var got Timestamp
		if err := json.Unmarshal([]byte(form), &got); err != nil || !time.Time(got).Equal(at) {
			t.Errorf("%s: %v, %v", form, time.Time(got), err)
		}
	}
	if text, _ := json.Marshal(Timestamp{}); string(text) != "null" {
		t.Error(string(text))
	}
	for _, form := range []string{`1`, `"soon"`, `"/Date(x)/"`} {
		if err := json.Unmarshal([]byte(form), new(Timestamp)); err == nil {
			t.Errorf("%s is read", form)
		}
	}
}

// TestShapesOfKinds: what clients read webhook resources into has each field of
// their kinds, in a Go type that takes its values.
func TestShapesOfKinds(t *testing.T) {
	for name, shape := range map[string]any{"Message": Message{}, "MessageResponse": MessageResponse{}, "Attempt": Attempt{}, "Subscriber": Subscriber{}, "Subscription": Subscription{}} {
		kind, _ := record.System().Lookup(name)
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(shape)) {
			if f.Anonymous {
				continue
			}
			member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			member = cmp.Or(member, f.Name)
			fields = append(fields, member)
			at, is := kind.Column(member)
			if !is {
				if name == "Message" || name == "MessageResponse" || name == "Attempt" {
					t.Errorf("%s.%s is no field of its kind", name, f.Name)
				}
				continue
			}
			if want := kind.Fields[at].Type; !slices.Contains(goTypes[want], f.Type) {
				t.Errorf("%s.%s is of type %s, which values of type %s do not fit into", name, f.Name, f.Type, want)
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
}
