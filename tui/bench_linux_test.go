package tui_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/tuitest"
)

// threadTime returns the processor time of this thread, which excludes other processes.
func threadTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(1, &u) // RUSAGE_THREAD
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkScreen measures a key press and the redraw of the whole screen at 200x60
// with 12,000 rows of 24 columns, and the memory in use.
func BenchmarkScreen(b *testing.B) {
	for _, test := range []struct {
		name string
		keys []string
	}{
		{"down", []string{"down"}},
		{"page", []string{"pgdown"}},
		{"columns", []string{"right", "right", "right", "right", "left", "left", "left", "left"}},
		{"ends", []string{"end", "home"}},
		{"mark", []string{"space"}},
		{"help", []string{"down"}},
	} {
		b.Run(test.name, func(b *testing.B) {
			w := newWideBrowser(b)
			if test.name == "help" {
				w.app.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("?")})
			}
			elapsed := make([]time.Duration, 0, b.N)
			processor := make([]time.Duration, 0, b.N)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			b.ResetTimer()
			for i := range b.N {
				if test.name == "page" && w.b.Grid.Index() == wideRows-1 {
					w.app.Update(tuitest.Keys["home"])
				}
				b.StopTimer()
				w.feed(b)
				b.StartTimer()
				start, before := time.Now(), threadTime()
				w.app.Update(tuitest.Keys[test.keys[i%len(test.keys)]])
				_ = w.app.View()
				elapsed = append(elapsed, time.Since(start))
				processor = append(processor, threadTime()-before)
			}
			b.ReportMetric(float64(quantile(elapsed, 0.99).Microseconds()), "p99-µs")
			b.ReportMetric(float64(quantile(processor, 0.99).Microseconds()), "cpu-p99-µs")
			b.ReportMetric(float64(quantile(processor, 1).Microseconds()), "cpu-max-µs")
		})
	}
}
