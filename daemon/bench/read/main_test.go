package read

import (
	"fmt"
	"os"
	"testing"
)

// roleVariable makes the test binary play one of the servers; serverVariable
// says which database server the daemon uses, if any.
const (
	roleVariable   = "READBENCH_ROLE"
	serverVariable = "READBENCH_SERVER"
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case roleDaemon:
		os.Exit(playDaemon(os.Args[1]))
	case roleFloor:
		os.Exit(playFloor(os.Args[1]))
	default:
		fmt.Fprintln(os.Stderr, "unknown role", role)
		os.Exit(2)
	}
}

// BenchmarkReads measures the figures about reading, by their numbers, and
// prints one line for each.
func BenchmarkReads(b *testing.B) {
	s := newStage(b)
	for _, figure := range []struct {
		number  string
		measure func(*stage, *testing.B)
	}{
		{"R1", oneRow},
		{"R2", pageOf100},
		{"R4", pageOf1000},
		{"R5", exports},
		{"R6", queryToBytes},
		{"R8", memory},
		{"R9", firstByte},
		{"R13", likeWithSets},
		{"R15", exactDecimals},
		{"R16", failedExports},
		{"TDS", onServer},
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
func rounds(b *testing.B, least int, round func(n int)) {
	n := 0
	for b.Loop() {
		round(n)
		n++
	}
	for ; n < least; n++ {
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
