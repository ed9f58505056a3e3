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

// Progress of an export of 1,000 rows a second, printed every five seconds. The total
// arrives during the export or never.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		total int64
		err   error
		want  []string
	}{
		{
			total: 12800,
			want: []string{
				"SO_Totals  5,120 rows  1,000 rows/s", "SO_Totals  10,240 / 12,800  80%  1,000 rows/s  3s left",
			},
		},
		{
			total: 9000,
			want:  []string{"SO_Totals  5,120 rows  1,000 rows/s", "SO_Totals  10,240 rows  1,000 rows/s"},
		}, // more rows than counted
		{
			total: 0,
			err:   errors.New("no"),
			want:  []string{"SO_Totals  5,120 rows  1,000 rows/s", "SO_Totals  10,240 rows  1,000 rows/s"},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var printed []string
			p := &progress{
				print:    func(text string) { printed = append(printed, text) },
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
			for row := range int64(12800) {
				time.Sleep(time.Millisecond)
				p.update(t.Context(), row+1)
			}
			p.end()
			if !slices.Equal(printed, c.want) {
				t.Errorf("printed %q, want %q", printed, c.want)
			}
		})
	}
}

// A line that is rewritten has a bar.
func TestProgressBar(t *testing.T) {
	var screen strings.Builder
	p := newProgress("auto", "IN_BinLocationLookupCustomValues", "█·", &screen, time.Now, nil)
	p.total.Store(12_800)
	if got, want := p.text(6400, 4*time.Second), "IN_BinLocation..  ██████······  6,400 / 12,800  50%  1,600 rows/s  4s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := newProgress("plain", "SO_Totals", "█·", &screen, time.Now, nil).bar; got != "" {
		t.Errorf("lines have a bar of %q", got)
	}
}

// The end of the export cancels the request for the total. A nil progress does nothing.
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
