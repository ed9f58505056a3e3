package assistant

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// kindSource has record kinds only.
type kindSource struct{ registry *record.Registry }

func (s kindSource) Kinds(context.Context) (*record.Registry, error) { return s.registry, nil }

func (s kindSource) Query(context.Context, *record.Kind, map[string]any) (*Page, error) {
	panic("no records")
}

func (s kindSource) Why(context.Context, string) (*wire.Why, error) { panic("no history") }

// TestSuffixesOfAPage checks that each part of a description has the filter suffixes of the types
// of its own fields.
func TestSuffixesOfAPage(t *testing.T) {
	types := []record.Type{record.Text, record.Int, record.Decimal, record.Bool, record.DateTime, record.Guid}
	var fields []record.Field
	for _, typ := range types {
		name := typ.String() + strings.Repeat("x", maxResult/4)
		fields = append(fields, record.Field{Name: name, Type: typ, Filter: typ.Filter()})
	}
	registry, err := record.NewRegistry(record.Kind{Name: "Wide", Fields: fields})
	if err != nil {
		t.Fatal(err)
	}

	pages := 0
	for skip := 0; pages == 0 || skip > 0; pages++ {
		in := struct {
			Kind string
			Skip count
		}{Kind: "Wide", Skip: count(skip)}
		result, err := describeKind(t.Context(), kindSource{registry}, in)
		if err != nil {
			t.Fatal(err)
		}
		page := result.(describedKind)
		var want []string
		for _, f := range page.Fields {
			want = append(want, f.Type)
		}
		slices.Sort(want)
		got := slices.Sorted(maps.Keys(page.Suffixes))
		if !slices.Equal(got, want) {
			t.Errorf("skip %d: suffixes of %v, want those of %v", skip, got, want)
		}
		skip = page.NextSkip
	}
	if pages != 2 {
		t.Errorf("%d pages, want 2", pages)
	}
}
