package benchtest

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// Rounds runs as many rounds as -benchtime requires, and at least a minimum. It suppresses the
// framework's time per operation, which includes the client.
func Rounds(b *testing.B, minimum int, round func(n int)) {
	n := 0
	for b.Loop() {
		round(n)
		n++
	}
	for ; n < minimum; n++ {
		round(n)
	}
	b.ReportMetric(0, "ns/op")
}

// InTurns runs both functions, in the opposite order in every second round, so that neither
// always benefits from the caches that the other one has filled.
func InTurns(n int, first, second func()) {
	if n%2 == 1 {
		first, second = second, first
	}
	first()
	second()
}

// CPUUsed returns the CPU time that a process uses while f runs.
func CPUUsed(b *testing.B, pid int, f func()) time.Duration {
	b.Helper()
	before, err := CPUTime(pid)
	if err != nil {
		b.Fatal(err)
	}
	f()
	after, err := CPUTime(pid)
	if err != nil {
		b.Fatal(err)
	}
	return after - before
}

// Skip adds a line for a measurement that is not available here.
func (t *Table) Skip(b *testing.B, reason string) { t.Add(b, "not measured: "+reason) }

// UsageAvailable reports whether this system can measure the CPU time and memory of a process.
// Otherwise it adds a line.
func (t *Table) UsageAvailable(b *testing.B) bool {
	_, err := CPUTime(os.Getpid())
	if err != nil {
		t.Skip(b, err.Error())
	}
	return err == nil
}

// Load returns the load averages of the machine, over the last minute first; an error if the
// system has none.
func Load() (averages []string, err error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return nil, err
	}
	averages = strings.Fields(string(text))
	if len(averages) == 0 {
		return nil, errors.New("/proc/loadavg is empty")
	}
	return averages, nil
}
