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
	const legacy = `"/Date(1530660012345+0000)/"`
	text, err := json.Marshal(Timestamp(at))
	if err != nil || string(text) != legacy {
		t.Errorf("JSON of %v is %s, %v; want %s", at, text, err, legacy)
	}
	text, err = json.Marshal(Timestamp{})
	if err != nil || string(text) != "null" {
		t.Errorf("JSON of the zero time is %s, %v; want null", text, err)
	}

	for _, form := range []string{
		legacy,
		`"\/Date(1530660012345)\/"`,
		`"2018-07-03T23:20:12.3450000"`,
		`"2018-07-03T23:20:12.345Z"`,
	} {
		var got Timestamp
		if err := json.Unmarshal([]byte(form), &got); err != nil || !time.Time(got).Equal(at) {
			t.Errorf("%s is decoded as %v, %v; want %v", form, time.Time(got), err, at)
		}
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
	for name, document := range map[string]any{
		"Attempt":      Attempt{},
		"Subscriber":   Subscriber{},
		"Subscription": Subscription{},
	} {
		kind, ok := record.System().Lookup(name)
		if !ok {
			t.Fatalf("there is no kind %s", name)
		}
		members := jsonMembers(reflect.TypeOf(document))
		for _, field := range kind.Fields {
			member, ok := members[field.Name]
			if !ok {
				t.Errorf("the struct %s has no member %s", name, field.Name)
				continue
			}
			if want := goTypes[field.Type]; !slices.Contains(want, member) {
				t.Errorf("%s.%s has the type %s, want one of %v for %s", name, field.Name, member, want, field.Type)
			}
		}
	}
}

// TestAttemptHasOnlyFieldsOfKind checks the struct that has no members besides those of its kind.
func TestAttemptHasOnlyFieldsOfKind(t *testing.T) {
	kind, ok := record.System().Lookup("Attempt")
	if !ok {
		t.Fatal("there is no kind Attempt")
	}
	for member := range jsonMembers(reflect.TypeFor[Attempt]()) {
		if _, ok := kind.Column(member); !ok {
			t.Errorf("the kind has no field for Attempt.%s", member)
		}
	}
}

// jsonMembers returns the types of a struct's fields by their names in JSON.
func jsonMembers(structType reflect.Type) map[string]reflect.Type {
	members := make(map[string]reflect.Type)
	for _, f := range reflect.VisibleFields(structType) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		members[cmp.Or(name, f.Name)] = f.Type
	}
	return members
}

// goTypes has the types of struct fields for each type of a kind's field.
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
