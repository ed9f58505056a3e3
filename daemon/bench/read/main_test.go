package read

import (
	"os"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/daemontest"
)

// floorVariable makes the test binary run the floor on a data directory.
const floorVariable = "READBENCH_FLOOR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(floorVariable); dir != "" {
		os.Exit(runFloor(dir))
	}
	daemontest.Main(m)
}

// BenchmarkReads runs all measurements by number, and prints one line for each.
func BenchmarkReads(b *testing.B) {
	s := newStage(b)
	for _, figure := range []struct {
		number  string
		measure func(*stage, *testing.B)
	}{
		{"R8", memory}, // first: it starts daemons on the directories that the others serve
		{"R1", oneRow},
		{"R2", pageOf100},
		{"R3", pageWithTotal},
		{"R4", pageOf1000},
		{"R5", exports},
		{"R6", queryToBytes},
		{"R9", firstByte},
		{"R10", pagesByCursor},
		{"R13", likeWithSets},
		{"R15", exactDecimals},
		{"R16", failedExports},
		{"R17", pageOrdered},
		{"R18", pageOrderedWithTotal},
		{"R19", oneRowLogged},
		{"R20", exportsToFiles},
		{"R21", newFilters},
		{"R22", cursorPage},
		{"R23", feedPage},
		{"R24", groups},
		{"R25", workbooks},
		{"OData", feedPages},
		{"TDS", onServer},
	} {
		b.Run(figure.number, func(b *testing.B) { figure.measure(s, b) })
	}
	s.table.print(os.Stdout)
}

// minRounds is the minimum number of rounds for a median.
const minRounds = 5

// rounds runs as many rounds as -benchtime requires, but no fewer than atLeast.
func rounds(b *testing.B, atLeast int, round func(n int)) { benchtest.Rounds(b, atLeast, round) }
