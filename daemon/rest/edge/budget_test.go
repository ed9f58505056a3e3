package edge

import "testing"

func TestBudget(t *testing.T) {
	b := NewBudget(16)
	for i, step := range []struct {
		n         int64
		anonymous bool
		want      bool
	}{
		{4, true, true},
		{1, true, false}, // a quarter of it
		{12, false, true},
		{1, false, false},
		{-12, false, true},
		{1, true, false},
		{-4, true, true},
		{16, false, true},
		{1, true, false}, // nothing is left of the whole
	} {
		if got := b.take(step.n, step.anonymous); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
