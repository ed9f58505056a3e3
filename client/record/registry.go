package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Registry is a set of record kinds. It is passed as a value to what
// needs it, so that there can be other kinds than the built-in ones.
// It does not change after NewRegistry, so any number of goroutines may read it.
type Registry struct {
	kinds  []*Kind
	byName map[string]*Kind
}

// NewRegistry checks and indexes copies of the kinds. They keep their order.
func NewRegistry(kinds ...Kind) (*Registry, error) {
	r := &Registry{byName: make(map[string]*Kind)}
	for _, kind := range kinds {
		k := &kind
		k.Fields = slices.Clone(k.Fields)
		if k.Name == "" || len(k.Fields) == 0 {
			return nil, fmt.Errorf("record kind %q has no name or no fields", k.Name)
		}
		if err := k.index(); err != nil {
			return nil, err
		}
		for _, name := range []string{k.Name, k.Operation()} {
			key := strings.ToLower(name)
			if r.byName[key] != nil {
				return nil, fmt.Errorf("record kind %s: duplicate name", name)
			}
			r.byName[key] = k
		}
		r.kinds = append(r.kinds, k)
	}
	return r, nil
}

// Builtin is the registry of the kinds of the published interface: the one of the
// service that whd replaces, which its clients are written for.
func Builtin() *Registry { return builtin() }

var builtin = sync.OnceValue(func() *Registry { return mustRegistry(Kinds()) })

// mustRegistry is NewRegistry for tables, whose mistakes their tests find.
func mustRegistry(kinds []Kind) *Registry {
	r, err := NewRegistry(kinds...)
	if err != nil {
		panic("record: " + err.Error())
	}
	return r
}

// Kinds lists the kinds in the order of the published interface.
func (r *Registry) Kinds() []*Kind { return r.kinds }

// Lookup finds a kind by its name or its operation's name, in any letter case.
func (r *Registry) Lookup(name string) (*Kind, bool) {
	k, ok := r.byName[strings.ToLower(name)]
	return k, ok
}

// Suggest lists up to three names of kinds that resemble name, nearest first.
func (r *Registry) Suggest(name string) []string {
	names := make([]string, len(r.kinds))
	for i, k := range r.kinds {
		names[i] = k.Name
	}
	return Suggest(strings.TrimSuffix(strings.ToLower(name), "query"), names)
}

// Suggest lists up to three of names that resemble name, nearest first: those
// that contain it or are within a third of its length in single-letter edits.
func Suggest(name string, names []string) []string {
	type match struct {
		name string
		far  int
	}
	name = strings.ToLower(name)
	var found []match
	for _, n := range names {
		low := strings.ToLower(n)
		far := distance(name, low)
		if len(name) >= 2 && strings.Contains(low, name) {
			far = min(far, 1)
		}
		if far <= max(1, len(name)/3) {
			found = append(found, match{n, far})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.far, b.far) })
	var suggested []string
	for _, m := range found[:min(3, len(found))] {
		suggested = append(suggested, m.name)
	}
	return suggested
}

// DidYouMean is a suggestion to append to a message; empty for no names.
func DidYouMean(suggested []string) string {
	if len(suggested) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(suggested, " or ") + "?"
}

// distance is how many bytes have to be put in, taken out, replaced or swapped
// with the next to make one name of another (the optimal string alignment
// distance). Long ones are not compared, since that takes the product of their
// lengths: they are as far apart as names can be.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return len(a) + len(b)
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
