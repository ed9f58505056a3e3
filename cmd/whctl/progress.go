package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/display"
)

// Progress is told at most this often.
const (
	screenInterval = 200 * time.Millisecond
	lineInterval   = 5 * time.Second
)

// screenWidth is the room that a text takes which replaces the one before.
const screenWidth = 70

// progress tells how far an export is. A nil one tells nothing.
type progress struct {
	tell     func(text string)
	count    func(context.Context) (int64, error) // of all rows
	name     string
	now      func() time.Time
	interval time.Duration
	start    time.Time
	last     time.Time
	rewrites bool // each text takes the place of the one before

	total atomic.Int64 // 0 until it is known
	work  sync.WaitGroup
	stop  context.CancelFunc // nil before anything was told
}

// progressModes are what --progress may say.
var progressModes = []string{"auto", "plain", "none"}

// startProgress begins to tell, where somebody watches and the rows do not run
// over the same screen.
func (j *job) startProgress() *progress {
	p := &progress{name: j.query.Kind.Name, now: j.now, start: j.now()}
	p.last = p.start
	p.count = j.expected
	switch mode := j.context.String("progress"); {
	case mode == "none" || j.context.Bool("quiet"):
		return nil
	case mode == "plain":
		p.interval = lineInterval
		p.tell = func(text string) { fmt.Fprintln(j.stderr, text) }
	case !j.prompter.Watches || j.printer(j.context).OnScreen():
		return nil
	default:
		p.interval, p.rewrites = screenInterval, true
		p.tell = func(text string) { fmt.Fprintf(j.stderr, "\r%-*s", screenWidth, text) }
	}
	return p
}

// expected is how many rows are going to come.
func (j *job) expected(ctx context.Context) (int64, error) {
	n, err := j.service.Count(ctx, j.query)
	n -= j.query.Skip
	if j.query.Take != nil {
		n = min(n, *j.query.Take)
	}
	return n, err
}

// at tells of a number of rows, if it is time. Looking at the clock costs more
// than a row, so not every row does.
func (p *progress) at(ctx context.Context, rows int64) {
	if p == nil || rows&0xff != 0 {
		return
	}
	now := p.now()
	if now.Sub(p.last) < p.interval {
		return
	}
	p.last = now
	if p.stop == nil {
		p.askForTotal(ctx)
	}
	p.tell(p.text(rows, now.Sub(p.start)))
}

// askForTotal finds out beside the export how much there is, once that takes so
// long that it matters. Where the service does not tell, neither does progress.
func (p *progress) askForTotal(ctx context.Context) {
	ctx, p.stop = context.WithCancel(ctx)
	p.work.Go(func() {
		if total, err := p.count(ctx); err == nil {
			p.total.Store(total)
		}
	})
}

// text is how far the export is, in one line.
func (p *progress) text(rows int64, took time.Duration) string {
	rate := float64(rows) / took.Seconds()
	total := p.total.Load()
	if total < rows {
		return fmt.Sprintf("%s  %s  %s rows/s", p.name, display.Count(rows, "row", "rows"), display.Thousands(int64(rate)))
	}
	left := time.Duration(float64(total-rows) / rate * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s  %s / %s  %d%%  %s rows/s  ETA %s", p.name, display.Thousands(rows), display.Thousands(total), 100*rows/total, display.Thousands(int64(rate)), left)
}

// end takes away what would stand before the next line.
func (p *progress) end() {
	if p == nil || p.stop == nil {
		return
	}
	p.stop()
	p.work.Wait()
	if p.rewrites {
		p.tell(strings.Repeat(" ", screenWidth) + "\r")
	}
}
