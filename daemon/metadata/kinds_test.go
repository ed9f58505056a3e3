package metadata

import (
	"reflect"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// TestKindsReadBack checks that a client gets the kinds of the registry.
func TestKindsReadBack(t *testing.T) {
	list := client.KindList{Kinds: Kinds(record.Builtin(), func(*record.Kind) bool { return true })}
	got, err := list.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range record.Builtin().Kinds() {
		k := got.Kinds()[i]
		if k.Name != want.Name || k.Area != want.Area || k.Summary != want.Summary ||
			k.Operation() != want.Operation() ||
			!reflect.DeepEqual(k.Key, want.Key) || !reflect.DeepEqual(k.Fields, want.Fields) {
			t.Errorf("got  %+v\nwant %+v", k, want)
		}
	}
}

func TestKindsThatMayBeRead(t *testing.T) {
	field := []record.Field{{Name: "ID"}}
	r, err := record.NewRegistry(record.Kind{
		Name:   "Open",
		Fields: field,
	}, record.Kind{Name: "Secret", Fields: field, Role: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	all, open := Kinds(r, func(*record.Kind) bool { return true }), Kinds(r,
		func(k *record.Kind) bool { return k.Role == "" })
	if len(all) != 2 || len(open) != 1 || open[0].Name != "Open" {
		t.Errorf("got all kinds as %+v and those without a role as %+v, want two and Open", all, open)
	}
	tag, err := ETag(all)
	openTag, _ := ETag(open)
	sameTag, _ := ETag(Kinds(r, func(*record.Kind) bool { return true }))
	if err != nil || tag == openTag || tag != sameTag {
		t.Errorf("tags %s, %s, %s, %v", tag, openTag, sameTag, err)
	}
}
