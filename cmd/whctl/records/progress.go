package records

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// Minimum intervals between updates.
const (
	screenInterval = 200 * time.Millisecond
	lineInterval   = 5 * time.Second
	clockRows      = 256 // rows between two readings of the clock
)

// Widths of parts of a line that is rewritten.
const (
	nameWidth = 16
	barWidth  = 12
)

// progress prints the progress of an export. A nil *progress prints nothing.
type progress struct {
	print    func(text string)
	count    func(context.Context) (int64, error) // returns the number of all rows
	name     string
	now      func() time.Time
	interval time.Duration
	start    time.Time
	last     time.Time          // time of the last update
	seen     int64              // number of rows when the clock was last read
	line     *output.StatusLine // on which print shows the texts; nil if it prints lines
	bar      string             // two characters for the part that is done and the remainder; empty for no bar

	total atomic.Int64 // 0 until it is known
	work  sync.WaitGroup
	stop  context.CancelFunc // nil before the first update
}

// ProgressModes has the values of --progress.
var ProgressModes = []string{"auto", "plain", "none"}

// newProgress returns a display that rewrites one line or, in mode plain, prints a line
// every lineInterval.
func newProgress(
	mode, name, bar string, to io.Writer, now func() time.Time,
	count func(context.Context) (int64, error),
) *progress {
	p := &progress{name: name, now: now, count: count}
	if mode == "plain" {
		p.interval = lineInterval
		p.print = func(text string) { fmt.Fprintln(to, text) }
		return p
	}
	p.interval = screenInterval
	p.line = output.NewStatusLine(to)
	p.print = p.line.Show
	p.bar = bar
	if len(name) > nameWidth {
		p.name = name[:nameWidth-2] + ".."
	}
	return p
}

// begin starts the clock before the first row.
func (p *progress) begin() {
	if p != nil {
		p.start = p.now()
		p.last = p.start
	}
}

// update prints the number of rows if the interval has passed. It reads the clock only
// every clockRows rows, because reading it costs more than writing a row.
func (p *progress) update(ctx context.Context, rows int64) {
	if p == nil || rows-p.seen < clockRows {
		return
	}
	p.seen = rows
	now := p.now()
	if now.Sub(p.last) < p.interval {
		return
	}
	p.last = now
	if p.stop == nil { // a long export: request the total concurrently
		ctx, p.stop = context.WithCancel(ctx)
		p.work.Go(func() {
			if total, err := p.count(ctx); err == nil {
				p.total.Store(total)
			}
		})
	}
	p.print(p.text(rows, now.Sub(p.start)))
}

// text formats the progress as one line.
func (p *progress) text(rows int64, elapsed time.Duration) string {
	rate := float64(rows) / elapsed.Seconds()
	total := p.total.Load()
	if total < rows {
		return fmt.Sprintf("%s  %s  %s rows/s",
			p.name, display.Count(rows, "row", "rows"), display.Thousands(int64(rate)))
	}
	seconds := float64(total-rows) / rate
	remaining := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s  %s%s / %s  %d%%  %s rows/s  %s left",
		p.name, p.barOf(rows, total), display.Thousands(rows), display.Thousands(total),
		100*rows/total, display.Thousands(int64(rate)), remaining)
}

// barOf returns the bar with a gap after it; empty without the characters of a bar.
func (p *progress) barOf(rows, total int64) string {
	characters := []rune(p.bar)
	if len(characters) < 2 {
		return ""
	}
	done := int(barWidth * rows / total)
	return strings.Repeat(string(characters[0]), done) +
		strings.Repeat(string(characters[1]), barWidth-done) + "  "
}

// end clears the line.
func (p *progress) end() {
	if p == nil || p.stop == nil {
		return
	}
	p.stop()
	p.work.Wait()
	p.line.Clear()
}
