package records

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress prints the progress of an export of 1,000 rows a second every five seconds. The total
// arrives during the export or never.
func TestProgress(t *testing.T) {
	const (
		exported = 12_800
		first    = "SO_Totals  5,120 rows  1,000 rows/s"
		second   = "SO_Totals  10,240 rows  1,000 rows/s"
	)
	for _, c := range []struct {
		name  string
		total int64
		err   error
		want  []string
	}{
		{
			name:  "total",
			total: exported,
			want:  []string{first, "SO_Totals  10,240 / 12,800  80%  1,000 rows/s  3s left"},
		},
		{name: "fewer rows counted than exported", total: 9000, want: []string{first, second}},
		{name: "no total", err: errors.New("no"), want: []string{first, second}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []string
			p := &progress{
				print:    func(text string) { got = append(got, text) },
				name:     "SO_Totals",
				now:      time.Now,
				interval: 5 * time.Second,
				start:    time.Now(),
				last:     time.Now(),
				count: func(context.Context) (int64, error) {
					time.Sleep(2 * time.Second)
					return c.total, c.err
				},
			}
			for row := range int64(exported) {
				time.Sleep(time.Millisecond)
				p.update(t.Context(), row+1)
			}
			p.end()
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		})
	}
}

// TestProgressBar checks that a line which is rewritten has a bar.
func TestProgressBar(t *testing.T) {
	var screen strings.Builder
	p := newProgress("auto", "IN_BinLocationLookupCustomValues", "█·", &screen, time.Now, nil)
	p.total.Store(12_800)
	got := p.text(6400, 4*time.Second)
	want := "IN_BinLocation..  ██████······  6,400 / 12,800  50%  1,600 rows/s  4s left"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	plain := newProgress("plain", "SO_Totals", "█·", &screen, time.Now, nil)
	if plain.bar != "" {
		t.Errorf("in the mode plain: got the bar %q, want none", plain.bar)
	}
}

// TestProgressEndStopsCounting checks that the end of the export cancels the request for the total,
// and that a nil progress does nothing.
func TestProgressEndStopsCounting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &progress{
			print:    func(string) {},
			now:      time.Now,
			interval: time.Second,
			start:    time.Now(),
			last:     time.Now(),
			count: func(ctx context.Context) (int64, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			},
		}
		time.Sleep(time.Minute)
		p.update(t.Context(), 256)
		p.end()
	})
	var none *progress
	none.update(t.Context(), 256)
	none.end()
}
