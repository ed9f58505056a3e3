package webhook

import (
	"slices"
	"testing"
	"time"
)

// What was noted of a subscription since the last write is one note.
func TestHealthIsNotedOnce(t *testing.T) {
	one, two := time.Unix(1, 0), time.Unix(2, 0)
	for name, c := range map[string]struct {
		noted []Health
		want  Health
	}{
		"fails":                  {[]Health{{1, one, false}}, Health{1, one, false}},
		"fails, succeeds":        {[]Health{{1, one, false}, {Subscription: 1}}, Health{Subscription: 1}},
		"fails, succeeds, fails": {[]Health{{1, one, false}, {Subscription: 1}, {1, two, false}}, Health{1, two, true}},
		"fails anew, given back": {[]Health{{1, one, false}, {1, two, true}}, Health{1, two, true}},
	} {
		g := newLedger()
		for _, h := range c.noted {
			g.noteHealth(h)
		}
		if !slices.Equal(g.health, []Health{c.want}) {
			t.Errorf("%s: noted %+v, want %+v", name, g.health, c.want)
		}
	}
}
