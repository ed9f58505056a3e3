package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
)

// maxResult is the maximum size of a structured result in bytes. A response has at most
// 16 KiB with the message around it.
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
	More    int      `json:"moreFields,omitempty"`
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

// findKinds implements find_kinds.
func findKinds(ctx context.Context, source Source, in struct {
	Words string
	Skip  int
}) (any, error) {
	registry, err := source.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	words := stems(in.Words)
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
	for i, k := range kinds[min(in.Skip, len(kinds)):] {
		one := foundKind{Kind: k.Name, Area: k.Area, Summary: k.Summary, Fields: slices.Clone(k.FieldNames())}
		slices.SortStableFunc(one.Fields, func(a, b string) int { return cmp.Compare(matches(b, words), matches(a, words)) })
		if one.More = max(len(one.Fields)-maxFields, 0); one.More > 0 {
			one.Fields = one.Fields[:maxFields]
		}
		result.Kinds = append(result.Kinds, one)
		if result.NextSkip = in.Skip + i; i > 0 && !fits(result) {
			result.Kinds = result.Kinds[:i]
			return result, nil
		}
	}
	result.NextSkip = 0
	return result, nil
}

// stems returns the words of a text in lower case, without the ending of a plural.
func stems(text string) (words []string) {
	words = strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		for _, end := range []string{"ies", "es", "s"} {
			if stem, plural := strings.CutSuffix(word, end); plural && len(stem) >= 3 {
				words[i] = stem
				break
			}
		}
	}
	return words
}

// matches returns the number of words that a text contains.
func matches(text string, words []string) (n int) {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			n++
		}
	}
	return n
}

// ranked returns the kinds that match a word, the best first: a name counts more than a
// summary, and that more than a field.
func ranked(kinds []*record.Kind, words []string) []*record.Kind {
	if len(words) == 0 {
		return kinds
	}
	score := make(map[*record.Kind]int)
	for _, k := range kinds {
		score[k] = 4*matches(k.Name, words) + 3*matches(k.Area+" "+k.Summary, words) + matches(strings.Join(k.FieldNames(), " "), words)
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k *record.Kind) bool { return score[k] == 0 })
	slices.SortStableFunc(kinds, func(a, b *record.Kind) int { return cmp.Compare(score[b], score[a]) })
	return kinds
}

// describedKind is a record kind as describe_kind describes it.
type describedKind struct {
	Kind     string              `json:"kind"`
	Area     string              `json:"area,omitempty"`
	Summary  string              `json:"summary,omitempty"`
	Key      []string            `json:"key,omitempty"`
	Fields   []describedField    `json:"fields"`
	Suffixes map[string][]string `json:"filterSuffixes"` // by type; empty for equality
	NextSkip int                 `json:"nextSkip,omitempty"`
}

type describedField struct {
	Name string `json:"name"`
	Type string `json:"type"` // with ? if it may be null
}

// describeKind implements describe_kind.
func describeKind(ctx context.Context, source Source, in struct {
	Kind string
	Skip int
}) (any, error) {
	kind, err := lookup(ctx, source, in.Kind)
	if err != nil {
		return nil, err
	}
	result := describedKind{Kind: kind.Name, Area: kind.Area, Summary: kind.Summary, Key: kind.Key, Fields: []describedField{}, Suffixes: make(map[string][]string)}
	for i, f := range kind.Fields[min(in.Skip, len(kind.Fields)):] {
		result.Fields = append(result.Fields, describedField{f.Name, f.TypeName()})
		if result.Suffixes[f.Type.String()] == nil {
			result.Suffixes[f.Type.String()] = suffixes(f.Filter)
		}
		if result.NextSkip = in.Skip + i; i > 0 && !fits(result) {
			result.Fields = result.Fields[:i]
			return result, nil
		}
	}
	result.NextSkip = 0
	return result, nil
}

// suffixes returns the suffixes of a family's filters.
func suffixes(f record.Family) []string {
	all := []string{}
	for _, o := range append(f.Operators(), record.IsNull, record.IsNotNull) {
		if f.Allows(o) {
			all = append(all, o.Suffix())
		}
	}
	return all
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
