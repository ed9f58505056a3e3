//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
)

// many streams so many rows of SO_Totals. Behind the last it says so, and waits
// before it ends the reply.
func many(t *testing.T, count int, sent chan<- struct{}, end <-chan struct{}) (url string) {
	const piece = 1000
	text := strings.Repeat(`{"InvoiceID":"D100512","InvoiceTotal":40002.1500,"Cartage1Total":12.5000,"Cartage1TaxTotal":1.2500}`+"\n", piece)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Trailer", wire.HeaderRowCount)
		for range count / piece {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
		close(sent)
		<-end
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(count))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// peak is the most memory that an export has taken by its last row, in MiB. What
// the system says of a process that has ended may be of the one that started it.
func peak(t *testing.T, format string, count int) (mebibytes int) {
	t.Helper()
	sent, end := make(chan struct{}), make(chan struct{})
	cmd := process(t, many(t, count, sent, end), "query", "SO_Totals", "--all", "--format", format, "-o", filepath.Join(t.TempDir(), "totals"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-sent
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Error(err)
	}
	close(end)
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), display.Thousands(int64(count))+" rows written") {
		t.Fatalf("%s: %v, %s", format, err, &stderr)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kibibytes int
	if _, err := fmt.Sscan(rest, &kibibytes); err != nil {
		t.Fatalf("%v in %s", err, status)
	}
	return kibibytes >> 10
}

// Memory does not grow with the rows: it stays below 60 MiB for a million, and a
// small export takes about as much.
func TestMemoryOfExports(t *testing.T) {
	if testing.Short() {
		t.Skip("exports a million rows")
	}
	const most, growth = 60, 12
	for format, count := range map[string]int{"csv": 1_000_000, "xlsx": 200_000, "json": 200_000, "table": 200_000} {
		small, large := peak(t, format, 20_000), peak(t, format, count)
		if large > most || large-small > growth {
			t.Errorf("%s: %d MiB for %d rows, %d MiB for 20,000", format, large, count, small)
		}
	}
}

// What is killed in the middle leaves no file under the final name; what is told
// to end leaves nothing at all, and an older file stays as it was.
func TestKilledExports(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		for _, format := range []string{"csv", "xlsx"} {
			dir := t.TempDir()
			old := filepath.Join(dir, "old")
			if err := os.WriteFile(old, []byte("as it was"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"new", "old"} {
				begun := make(chan struct{})
				cmd := process(t, endlessUntil(t, begun), "query", "DB_Class", "--all", "--format", format, "-o", filepath.Join(dir, name))
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				<-begun
				if err := cmd.Process.Signal(signal); err != nil {
					t.Error(err)
				}
				_ = cmd.Wait() // how it ended is tested elsewhere
			}
			var finals []string
			for _, name := range filesIn(t, dir) {
				if signal != syscall.SIGKILL || !strings.HasSuffix(name, ".part") {
					finals = append(finals, name)
				}
			}
			text, err := os.ReadFile(old)
			if len(finals) != 1 || finals[0] != "old" || err != nil || string(text) != "as it was" {
				t.Errorf("%v, %s: left behind %q; the old file holds %q, %v", signal, format, finals, text, err)
			}
		}
	}
}

// endlessUntil streams rows, and closes begun once more of them have gone out
// than can be on their way.
func endlessUntil(t *testing.T, begun chan struct{}) (url string) {
	const onTheWay = 32 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		// Long rows, since a workbook takes no more than a million.
		piece := strings.Repeat(`{"Class":"`+strings.Repeat("A", 200)+`"}`+"\n", 1000)
		over := sync.OnceFunc(func() { close(begun) })
		defer over()
		for sent := 0; ; sent += len(piece) {
			if sent > onTheWay {
				over()
			}
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
