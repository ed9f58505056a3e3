package changes

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// The sizes of the measurements. Those of a limit are one million rows and events.
var (
	rowCount   = flag.Int("rows", 1_000_000, "rows of a table that is swept")
	eventCount = flag.Int("events", 100_000, "rows of a table that one statement changes")
	span       = flag.Duration("span", 65*time.Second, "duration of measurements of an idle or quiet daemon")
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// BenchmarkChanges runs the measurements of capture, by their numbers, and prints a line for
// each result.
func BenchmarkChanges(b *testing.B) {
	s := &suite{}
	for _, bench := range []struct {
		number  string
		measure func(*suite, *testing.B)
	}{
		{"C1", unchangedSweep},
		{"C2", bulkUpdate},
		{"C3", commitToPost},
		{"C4", idleKinds},
		{"C4-server", sweepOfServer},
		{"C5", firstLook},
		{"C6", costOfAChange},
	} {
		b.Run(bench.number, func(b *testing.B) {
			for measured := false; b.Loop(); measured = true {
				if !measured { // each measurement has its own number of rounds
					bench.measure(s, b)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	s.table.print(os.Stdout)
}

// suite is the state shared by the measurements.
type suite struct{ table table }

// rounds is the number of rounds of a median.
const rounds = 5
