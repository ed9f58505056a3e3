package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Registry is an immutable set of record kinds, safe for concurrent use. It is passed as
// a parameter, so that kinds other than the built-in ones are possible.
type Registry struct {
	kinds  []*Kind
	byName map[string]*Kind // by both names of a kind, as they are and in lower case
}

// NewRegistry validates, copies and indexes the kinds, in their order.
func NewRegistry(kinds ...Kind) (*Registry, error) { return new(Registry).With(kinds...) }

// With returns a registry of the same kinds, followed by copies of others.
func (r *Registry) With(kinds ...Kind) (*Registry, error) {
	extended := &Registry{kinds: slices.Clone(r.kinds), byName: make(map[string]*Kind)}
	maps.Copy(extended.byName, r.byName)
	for _, kind := range kinds {
		k := &kind
		k.Fields = slices.Clone(k.Fields)
		if k.Name == "" || len(k.Fields) == 0 {
			return nil, fmt.Errorf("record kind %q has no name or no fields", k.Name)
		}
		if mistakes := k.index(); mistakes != nil {
			return nil, fmt.Errorf("record kind %s: %w", k.Name, mistakes[0])
		}
		for _, name := range []string{k.Name, k.Operation()} {
			key := strings.ToLower(name)
			if extended.byName[key] != nil {
				return nil, fmt.Errorf("record kind %s: duplicate name", name)
			}
			extended.byName[key] = k
			extended.byName[name] = k
		}
		extended.kinds = append(extended.kinds, k)
	}
	return extended, nil
}

// Builtin returns the registry of Kinds. The service that whd replaces has the same interface, and
// existing clients depend on it.
func Builtin() *Registry { return builtin() }

var builtin = sync.OnceValue(func() *Registry { return mustRegistry(Kinds()) })

// mustRegistry is NewRegistry for the built-in kinds, whose errors are found by tests.
func mustRegistry(kinds []Kind) *Registry {
	r, err := NewRegistry(kinds...)
	if err != nil {
		panic("record: " + err.Error())
	}
	return r
}

// Kinds returns the kinds in the order of NewRegistry.
func (r *Registry) Kinds() []*Kind { return r.kinds }

// Filter returns the registry of the kinds that match, which is r itself if all do.
func (r *Registry) Filter(match func(*Kind) bool) *Registry {
	if !slices.ContainsFunc(r.kinds, func(k *Kind) bool { return !match(k) }) {
		return r
	}
	filtered := &Registry{byName: make(map[string]*Kind)}
	for name, k := range r.byName {
		if match(k) {
			filtered.byName[name] = k
		}
	}
	filtered.kinds = slices.DeleteFunc(slices.Clone(r.kinds), func(k *Kind) bool { return !match(k) })
	return filtered
}

// Lookup returns a kind by its name or its operation's name, ignoring case.
func (r *Registry) Lookup(name string) (*Kind, bool) {
	k, ok := r.byName[name]
	if !ok {
		k, ok = r.byName[strings.ToLower(name)]
	}
	return k, ok
}

// Suggest returns up to three names of kinds similar to name, most similar first. If there
// are none, name can be a word of the summary, in singular or plural.
func (r *Registry) Suggest(name string) []string {
	names := Texts(r.kinds, func(k *Kind) string { return k.Name })
	suggested := Suggest(strings.TrimSuffix(strings.ToLower(name), "query"), names)
	word := strings.TrimSuffix(strings.ToLower(name), "s")
	if len(suggested) > 0 || len(word) < 3 {
		return suggested
	}
	for _, k := range r.kinds {
		if len(suggested) < 3 && strings.Contains(strings.ToLower(k.Summary), word) {
			suggested = append(suggested, k.Name)
		}
	}
	return suggested
}

// Suggest returns up to three of names that are similar to name, most similar first: names that
// contain it, or have an edit distance of at most a third of its length. If both names have the
// same number of parts, with dots between them, each part must be similar: jobcard.created is not
// like debtor.created.
func Suggest(name string, names []string) []string {
	type match struct {
		name     string
		distance int
	}
	name = strings.ToLower(name)
	var found []match
	for _, n := range names {
		low := strings.ToLower(n)
		d := distance(name, low)
		if len(name) >= 2 && strings.Contains(low, name) {
			d = min(d, 1)
		}
		if d <= max(1, len(name)/3) && similarParts(name, low) {
			found = append(found, match{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	return Texts(found[:min(3, len(found))], func(m match) string { return m.name })
}

// similarParts reports whether each part of a name is similar to, or in, the part of another name
// at the same place. It is true if the names differ in their number of parts.
func similarParts(a, b string) bool {
	partsA := strings.Split(a, ".")
	partsB := strings.Split(b, ".")
	if len(partsA) != len(partsB) {
		return true
	}
	for i, part := range partsA {
		isSimilar := distance(part, partsB[i]) <= max(1, len(part)/3)
		if !isSimilar && !strings.Contains(partsB[i], part) {
			return false
		}
	}
	return true
}

// Texts returns a text of each entry of a list; nil for an empty list.
func Texts[T any](list []T, text func(T) string) []string {
	texts := slices.Grow([]string(nil), len(list))
	for _, entry := range list {
		texts = append(texts, text(entry))
	}
	return texts
}

// DidYouMean returns a suggestion to append to a message; empty without names.
func DidYouMean(suggested []string) string {
	if len(suggested) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(suggested, " or ") + "?"
}

// DidYouMeanOr returns a suggestion to append to a message, if there are names, and another
// way to find the right one, as in "; list them with whctl records".
func DidYouMeanOr(suggested []string, other string) string {
	if len(suggested) == 0 {
		return "; " + other
	}
	return DidYouMean(suggested) + " " + strings.ToUpper(other[:1]) + other[1:]
}

// distance returns the optimal string alignment distance in bytes: the number of
// insertions, deletions, replacements and swaps of adjacent bytes. The time is
// proportional to the product of the lengths; names longer than 100 bytes have the
// maximum distance.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return len(a) + len(b)
	}

	// The rows of the table of distances for i-2, i-1 and i bytes of a.
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		unused := before
		before, last = last, row
		row = unused
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			isSwap := i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1]
			if isSwap {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
