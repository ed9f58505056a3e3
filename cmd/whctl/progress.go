package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/display"
)

// Progress is shown at most this often.
const (
	screenInterval = 200 * time.Millisecond
	lineInterval   = 5 * time.Second
)

// screenWidth is the room that a text takes which replaces the one before.
const screenWidth = 70

// progress shows how far an export is. A nil one shows nothing.
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
	stop  context.CancelFunc // nil before anything was shown
}

// progressModes are what --progress may say.
var progressModes = []string{"auto", "plain", "none"}

// newProgress writes progress to a terminal, or in mode plain line by line.
func newProgress(mode, name string, to io.Writer, now func() time.Time, count func(context.Context) (int64, error)) *progress {
	p := &progress{name: name, now: now, count: count}
	if mode == "plain" {
		p.interval = lineInterval
		p.tell = func(text string) { fmt.Fprintln(to, text) }
	} else {
		p.interval, p.rewrites = screenInterval, true
		p.tell = func(text string) { fmt.Fprintf(to, "\r%-*s", screenWidth, text) }
	}
	return p
}

// begin is when the rows begin to come.
func (p *progress) begin() {
	if p != nil {
		p.start = p.now()
		p.last = p.start
	}
}

// at shows a number of rows, if it is time. Looking at the clock costs more
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
	if p.stop == nil { // it takes so long that the total matters: it is asked for beside the export
		ctx, p.stop = context.WithCancel(ctx)
		p.work.Go(func() {
			if total, err := p.count(ctx); err == nil {
				p.total.Store(total)
			}
		})
	}
	p.tell(p.text(rows, now.Sub(p.start)))
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

// end clears the line.
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
