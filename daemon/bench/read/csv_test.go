package read

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/bench/benchtest"
	celled "github.com/bizhook/whd/daemon/row"
)

// in returns the answer in a format.
func (a answer) in(format string) answer {
	a.csv = format == "csv"
	return a
}

// beginCSV writes the header line.
func (a *answer) beginCSV(out []byte) []byte {
	for _, name := range a.names {
		out = append(append(out, bytes.Trim(name, `":`)...), ',')
	}
	return append(out[:len(out)-1], "\r\n"...)
}

// appendCSV appends a row: numbers unchanged, other values after a search for characters
// that require quotes.
func (a *answer) appendCSV(out []byte, cells []celled.Cell) []byte {
	for i, cell := range cells {
		if a.Types[i] != record.Decimal {
			for _, c := range cell.Data {
				if c == '"' || c == ',' || c == '\r' || c == '\n' {
					panic("no such text is in the data")
				}
			}
		}
		out = append(append(out, cell.Data...), ',')
	}
	return append(out[:len(out)-1], "\r\n"...)
}

// exportsToFiles measures whctl against curl: a million rows to a file.
func exportsToFiles(s *stage, b *testing.B) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		s.table.Skip(b, "curl is not installed")
		return
	}
	dir := b.TempDir()
	whctl := filepath.Join(dir, "whctl.exe")
	if out, err := exec.Command("go", "-C", "../../..", "build", "-o", whctl, "./cmd/whctl").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	both, err := s.largeServers()
	if err != nil {
		b.Fatal(err)
	}
	for _, format := range []string{"csv", "json", "ndjson", "raw:xml"} {
		b.Run(format, func(b *testing.B) { both.toFiles(b, s, whctl, curl, format) })
	}
}

// toFiles measures one format of whctl.
func (s servers) toFiles(b *testing.B, to *stage, whctl, curl, format string) {
	url, file := "http://"+s.whd.address, filepath.Join(b.TempDir(), "export")
	reply, raw := strings.CutPrefix(format, "raw:")
	wallLimit, digest := 1.3, ""
	if raw { // whctl verifies a digest, which the daemon also computes for curl here
		wallLimit, digest = 2, "sha-256"
	}
	cpu := samples{metric: "cpu", unit: "s", digits: 3, named: "curl"}
	wall := samples{metric: "wall", unit: "s", digits: 3, named: "curl"}
	rounds(b, minRounds, func(n int) {
		var ofWhctl, ofCurl cost
		benchtest.InTurns(n, func() {
			ofWhctl = s.costOf(b, file, whctl, "query", "SO_Totals", "--url", url, "--format", format, "-o", file)
		}, func() {
			ofCurl = s.costOf(b, file, curl, "-sSf", "-H", "Authorization: Bearer "+s.data.key, "-H", "Content-Type: application/json", "-H", "Want-Digest: "+digest, "-d", "{}", "-o", file, url+"/Queries/SO_Totals?format="+reply)
		})
		cpu.add(ofWhctl.cpu, ofCurl.cpu)
		wall.add(ofWhctl.wall, ofCurl.wall)
	})
	to.table.times(b, "whctl: 1M rows as "+format+", CPU", cpu, 2)
	to.table.times(b, "whctl: 1M rows as "+format+", wall", wall, wallLimit)
}

// costOf returns the cost of a program that writes a file.
func (s servers) costOf(b *testing.B, file, program string, args ...string) cost {
	_ = os.Remove(file) // of an earlier run
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "WHCTL_TOKEN="+s.data.key, "WHCTL_CONFIG="+file+".toml")
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", program, err, out)
	}
	wall := time.Since(start)
	return cost{wall: wall.Seconds(), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
}
