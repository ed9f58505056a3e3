package complete

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Names that the service told are offered for a day.
func TestCompleteNames(t *testing.T) {
	cache := t.TempDir()
	env := map[string]string{"XDG_CACHE_HOME": cache}
	getenv := func(name string) string { return env[name] }
	RememberNames(getenv, "", "events", []string{"job.created"})
	file := filepath.Join(cache, "whctl", "default-events.json")
	now := time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC)
	complete := func(age time.Duration) []string {
		if err := os.Chtimes(file, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		c := line{Words: Words{Env: getenv, Now: func() time.Time { return now }}}
		var values []string
		for _, one := range c.events() {
			values = append(values, one.Value)
		}
		return values
	}
	if got := complete(23 * time.Hour); !slices.Contains(got, "job.created") || !slices.Contains(got, "salesorder.created") {
		t.Errorf("a fresh name: %v", got)
	}
	if got := complete(25 * time.Hour); slices.Contains(got, "job.created") || !slices.Contains(got, "salesorder.created") {
		t.Errorf("an old name: %v", got)
	}
}
