package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// maxResult is the maximum size of a result in bytes. A response has it twice, as structured
// content and as text, and a host passes one of them to the assistant.
const maxResult = 15 << 10

// fits reports whether a result is not too large.
func fits(result any) bool {
	text, err := json.Marshal(result)
	return err == nil && len(text) <= maxResult
}

// foundKind is a record kind as find_kinds describes it.
type foundKind struct {
	Kind    string   `json:"kind"`
	Area    string   `json:"area,omitempty"`
	Summary string   `json:"summary,omitempty"`
	Fields  []string `json:"fields"`
	More    int      `json:"moreFields,omitempty"` // number of fields that are left out
}

type foundKinds struct {
	Kinds    []foundKind `json:"kinds"`
	Matches  int         `json:"matches"`
	Areas    []string    `json:"areas,omitempty"` // if no kind matches
	NextSkip int         `json:"nextSkip,omitempty"`
}

// maxFields is the maximum number of fields of a kind that find_kinds returns.
const maxFields = 40

// maxWords limits the words of find_kinds, each of which is searched in all names.
const maxWords = 100

// findKinds is the tool find_kinds.
func findKinds(ctx context.Context, source Source, in struct {
	Words string
	Skip  count
}) (any, error) {
	registry, err := source.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	words := searchWords(in.Words)
	if len(words) > maxWords {
		return nil, fmt.Errorf("words: at most %d words are possible, not %d", maxWords, len(words))
	}
	kinds := ranked(registry.Kinds(), words)
	result := foundKinds{Kinds: []foundKind{}, Matches: len(kinds)}
	if len(kinds) == 0 {
		result.Areas = record.Texts(registry.Kinds(), func(k *record.Kind) string { return k.Area })
		slices.Sort(result.Areas)
		result.Areas = slices.Compact(result.Areas)
	}
	skip := min(int(in.Skip), len(kinds))
	for i, k := range kinds[skip:] {
		result.Kinds = append(result.Kinds, newFoundKind(k, words))
		result.NextSkip = skip + i // the start of the next page, if this kind does not fit
		if i > 0 && !fits(result) {
			result.Kinds = result.Kinds[:i]
			return result, nil
		}
	}
	result.NextSkip = 0
	return result, nil
}

// newFoundKind returns a kind with the fields that match words first.
func newFoundKind(k *record.Kind, words []searchWord) foundKind {
	fields := k.FieldNames()
	slices.SortStableFunc(fields, func(a, b string) int {
		return cmp.Compare(matches(b, words), matches(a, words))
	})
	shown := min(len(fields), maxFields)
	return foundKind{
		Kind:    k.Name,
		Area:    k.Area,
		Summary: k.Summary,
		Fields:  fields[:shown],
		More:    len(fields) - shown,
	}
}

// describedKind is a record kind as describe_kind describes it.
type describedKind struct {
	Kind     string              `json:"kind"`
	Area     string              `json:"area,omitempty"`
	Summary  string              `json:"summary,omitempty"`
	Key      []string            `json:"key,omitempty"`
	Fields   []describedField    `json:"fields"`
	Suffixes map[string][]string `json:"filterSuffixes"` // keyed by type; empty for equality
	NextSkip int                 `json:"nextSkip,omitempty"`
}

type describedField struct {
	Name string `json:"name"`
	Type string `json:"type"` // with ? if it may be null
}

// describeKind is the tool describe_kind.
func describeKind(ctx context.Context, source Source, in struct {
	Kind string
	Skip count
}) (any, error) {
	kind, err := lookup(ctx, source, in.Kind)
	if err != nil {
		return nil, err
	}
	result := describedKind{
		Kind:     kind.Name,
		Area:     kind.Area,
		Summary:  kind.Summary,
		Key:      kind.Key,
		Fields:   []describedField{},
		Suffixes: make(map[string][]string),
	}
	skip := min(int(in.Skip), len(kind.Fields))
	for i, f := range kind.Fields[skip:] {
		typeName := f.Type.String()
		_, described := result.Suffixes[typeName]
		if !described {
			result.Suffixes[typeName] = suffixes(f.Filter)
		}
		result.Fields = append(result.Fields, describedField{Name: f.Name, Type: f.TypeName()})
		result.NextSkip = skip + i // the start of the next page, if this field does not fit
		if i > 0 && !fits(result) {
			result.Fields = result.Fields[:i]
			if !described {
				delete(result.Suffixes, typeName) // its only field is on the next page
			}
			return result, nil
		}
	}
	result.NextSkip = 0
	return result, nil
}

// suffixes returns the suffixes of a family's filters.
func suffixes(f record.Family) []string {
	list := []string{}
	for _, o := range append(f.Operators(), record.IsNull, record.IsNotNull) {
		if f.Allows(o) {
			list = append(list, o.Suffix())
		}
	}
	return list
}

// lookup returns a kind by its name.
func lookup(ctx context.Context, source Source, name string) (*record.Kind, error) {
	registry, err := source.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	if kind, ok := registry.Lookup(name); ok {
		return kind, nil
	}
	if near := registry.Suggest(name); near != nil {
		return nil, fmt.Errorf("kind: unknown record kind %.100q%s", name, record.DidYouMean(near))
	}
	names := record.Texts(registry.Kinds(), func(k *record.Kind) string { return k.Name })
	if len(names) > maxNames {
		names = append(names[:maxNames], "and others, which find_kinds lists")
	}
	return nil, fmt.Errorf("kind: unknown record kind %.100q; kinds: %s", name, strings.Join(names, ", "))
}
