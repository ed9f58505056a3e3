package delivery

import (
	"fmt"
	"os"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/daemontest"
)

// floorVariable is the environment variable that makes the test binary run the floor.
// Its value is the target URL.
const floorVariable = "DELIVERBENCH_FLOOR"

func TestMain(m *testing.M) {
	if target := os.Getenv(floorVariable); target != "" {
		if err := runFloor(os.Args[1], target); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if target := os.Getenv(plainVariable); target != "" {
		if err := runPlain(os.Args[1], target); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	slowDownDisk()
	daemontest.Main(m)
}

// BenchmarkDeliver runs the measurements of delivery, by their numbers, and prints a
// line for each.
func BenchmarkDeliver(b *testing.B) {
	s := &suite{}
	for _, bench := range []struct {
		number  string
		measure func(*suite, *testing.B)
	}{
		{"D1", oneEndpoint},
		{"D2", hundredEndpoints},
		{"D3", tenSubscriptions},
		{"D4", durablePublishes},
		{"D1-upkeep", pruningRate},
		{"D5", pacedLatency},
		{"D5-upkeep", latencyDuringPruning},
		{"D5-checkpoint", latencyDuringCheckpoints},
		{"D6", saturatedLatency},
		{"D7", latencyWithHangingEndpoint},
		{"D8", cpuOfAnEvent},
		{"D9", retryDelay},
		{"D10", millionPendingMessages},
		{"D11", twentyKills},
		{"D12", idle},
		{"D13", twoDaemons},
		{"D14", lists},
		{"D14-server", listsOnServer},
		{"D15", manySubscriptions},
		{"crowd", publishWithCrowd},
		{"D17", fanOut},
		{"D18", pacedCPU},
		{"D19-small", smallOutage},
		{"D19", largeOutage},
		{"D19-hanging", hangingOutage},
		{"D19-recovery", recovery},
		{"keys", orderByKey},
		{"rate", latencyWithRateLimit},
		{"changes", latencyDuringChanges},
		{"D20", history},
		{"D20-server", historyOnServer},
		{"D20-requests", requestLists},
		{"D21", connectionsOpened},
		{"Disk-answers", rejectionsOnDisk},
		{"Disk-requestlog", requestLogOnDisk},
	} {
		b.Run(bench.number, func(b *testing.B) { bench.measure(s, b) })
	}
	s.table.print(os.Stdout)
}

// minRounds is the minimum number of rounds for a median.
const minRounds = 5

// rounds runs as many rounds as -benchtime requires, and at least minRounds.
func rounds(b *testing.B, round func(n int)) { benchtest.Rounds(b, minRounds, round) }
