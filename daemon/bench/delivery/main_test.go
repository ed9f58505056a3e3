package delivery

import (
	"fmt"
	"os"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// floorVariable makes the test binary the floor, which sends to the address
// that it names.
const floorVariable = "DELIVERBENCH_FLOOR"

func TestMain(m *testing.M) {
	if target := os.Getenv(floorVariable); target != "" {
		if err := playFloor(os.Args[1], target); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	daemontest.Main(m)
}

// BenchmarkDeliver measures the figures about delivery, by their numbers, and
// prints one line for each.
func BenchmarkDeliver(b *testing.B) {
	s := &stage{}
	for _, figure := range []struct {
		number  string
		measure func(*stage, *testing.B)
	}{
		{"D1", oneEndpoint},
		{"D2", hundredEndpoints},
		{"D3", tenSubscriptions},
		{"D4", durablePublishes},
		{"D1-upkeep", keepingUp},
		{"D5", calmLatency},
		{"D5-upkeep", besidePruning},
		{"D6", saturatedLatency},
		{"D7", besideAHangingOne},
		{"D8", cpuOfAnEvent},
		{"D9", retriesOnTime},
		{"D10", millionPending},
		{"D11", twentyKills},
		{"D12", idle},
		{"D13", twoDaemons},
		{"D19-small", smallOutage},
		{"D19", largeOutage},
		{"D19-hanging", hangingOutage},
		{"D19-recovery", recovery},
		{"changes", besideChanges},
		{"Disk-answers", refusals},
		{"Disk-requestlog", requestLogOnDisk},
	} {
		b.Run(figure.number, func(b *testing.B) { figure.measure(s, b) })
	}
	s.table.print(os.Stdout)
}

// leastRounds is the least number of rounds to take a median of.
const leastRounds = 5

// rounds runs round after round: as many as -benchtime asks for, and at least
// so many. The framework's own figures, which are about the client, are left
// out where they can be.
func rounds(b *testing.B, round func(n int)) {
	n := 0
	for b.Loop() {
		round(n)
		n++
	}
	for ; n < leastRounds; n++ {
		round(n)
	}
	b.ReportMetric(0, "ns/op")
}

// inTurns runs both, and the other one first in every second round, so that
// neither always finds what the first left behind.
func inTurns(n int, one, other func()) {
	if n%2 == 1 {
		one, other = other, one
	}
	one()
	other()
}
