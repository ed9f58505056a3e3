package read

import (
	"fmt"
	"os"
	"testing"
)

// roleVariable makes the test binary run one of the servers; serverVariable is the
// database server of the daemon, if any. settingVariable has settings of the daemon.
const (
	roleVariable    = "READBENCH_ROLE"
	serverVariable  = "READBENCH_SERVER"
	settingVariable = "READBENCH_SETTINGS"
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case roleDaemon:
		os.Exit(runDaemon(os.Args[1]))
	case roleFloor:
		os.Exit(runFloor(os.Args[1]))
	default:
		fmt.Fprintln(os.Stderr, "unknown role", role)
		os.Exit(2)
	}
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

// rounds runs as many rounds as -benchtime requires, but no fewer than atLeast. The
// framework's own results, which include the client, are suppressed if possible.
func rounds(b *testing.B, atLeast int, round func(n int)) {
	n := 0
	for b.Loop() {
		round(n)
		n++
	}
	for ; n < atLeast; n++ {
		round(n)
	}
	b.ReportMetric(0, "ns/op")
}

// inTurns runs both functions, in alternating order, so that neither always benefits
// from the caches filled by the other.
func inTurns(n int, first, second func()) {
	if n%2 == 1 {
		first, second = second, first
	}
	first()
	second()
}
