package changes_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/daemon/changes"
)

// With another hash, or other fields, changes that were made in between are still found, and
// new fields are filled in.
func TestChangedFieldsOfTheKind(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.end()
		r.table.set("b", "9.50", "x")
		r.table.set("n", "", "text")
		kind := *r.kind
		kind.Ignore = []string{"Text", "ChangedAt"}
		r.kind = &kind
		defer changes.WithHashVersion()()
		r.run()
		r.sweeps(2)
		var got []string
		for _, c := range r.changes(0) {
			got = append(got, c.String())
		}
		slices.Sort(got)
		want := []string{"updated b [Amount Count]", "updated n [Count]"}
		if !slices.Equal(got, want) {
			t.Errorf("the changes in between are %q, want %q", got, want)
		}

		captured := kind
		captured.Ignore = nil
		r.kind = &captured
		r.sweeps(2)
		if all := r.changes(2); len(all) > 0 {
			t.Errorf("new fields published %v", all)
		}
		r.table.set("n", "", "other")
		r.sweeps(1)
		if all := r.changes(2); len(all) != 1 || !slices.Contains(all[0].fields, "Text") {
			t.Errorf("an update of Text published %v, want a change of Text", all)
		}
	})
}
