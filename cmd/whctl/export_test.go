//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// serveRows streams count rows of SO_Totals, also in pages by cursor: the number of rows
// before the page. It closes sent after the last row and ends the reply when end is closed.
func serveRows(t *testing.T, count int, sent chan<- struct{}, end <-chan struct{}) (url string) {
	const piece = 1000
	server := httptest.NewServer(withoutKinds(func(w http.ResponseWriter, r *http.Request) {
		var page struct {
			Take   int
			Cursor string
		}
		if err := json.NewDecoder(r.Body).Decode(&page); err != nil {
			t.Error(err)
		}
		before, _ := strconv.Atoi(page.Cursor) // empty for the first page
		rows := count - before
		if page.Take > 0 {
			rows = min(rows, (page.Take+piece-1)/piece*piece)
		}
		w.Header().Set("Trailer", wire.HeaderRowCount+", "+wire.HeaderNextCursor)
		text := startReply(w, r, "SO_Totals", `{"InvoiceID":"D100512","InvoiceTotal":40002.1500,"Cartage1Total":12.5000,"Cartage1TaxTotal":1.2500}`, "D100512,40002.1500,12.5000,1.2500,,,,", piece)
		for range rows / piece {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
		if before+rows < count {
			w.Header().Set(wire.HeaderNextCursor, strconv.Itoa(before+rows))
		} else {
			close(sent)
			<-end
		}
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(rows))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// startReply starts a stream in NDJSON or CSV, and returns a row of it many times.
func startReply(w http.ResponseWriter, r *http.Request, kind, json, csv string, count int) string {
	if r.URL.Query().Get("format") != "csv" {
		w.Header().Set("Content-Type", "application/x-ndjson")
		return strings.Repeat(json+"\n", count)
	}
	w.Header().Set("Content-Type", "text/csv")
	w.Header().Set(wire.HeaderFormulaGuard, "false")
	recordKind, _ := record.Builtin().Lookup(kind)
	io.WriteString(w, strings.Join(recordKind.FieldNames(), ",")+"\r\n")
	return strings.Repeat(csv+"\r\n", count)
}

// peakMemory returns the peak memory of an export after its last row, in MiB. The
// process must still run: the peak of a process that has exited may include that of
// its parent.
func peakMemory(t *testing.T, program, format string, count int, flags ...string) (mebibytes int) {
	t.Helper()
	sent, end := make(chan struct{}), make(chan struct{})
	args := append([]string{"query", "SO_Totals", "--all", "--format", format, "-o", filepath.Join(t.TempDir(), "totals")}, flags...)
	cmd := process(t, serveRows(t, count, sent, end), args...)
	cmd.Path = program
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
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kibibytes int
	if _, err := fmt.Sscan(peak, &kibibytes); err != nil {
		t.Fatalf("%v in %s", err, status)
	}
	return kibibytes >> 10
}

// Memory use does not depend on the number of rows: an export that kept 25 bytes of each
// row would exceed the limit. The peaks of small and large exports are not compared, since
// the garbage collector runs later on a busy machine.
func TestMemoryOfExports(t *testing.T) {
	const limit = 60    // MiB
	whctl := program(t) // the tests' own contains the service too
	for _, format := range []string{"csv", "xlsx", "json", "table"} {
		if peak := peakMemory(t, whctl, format, 1_000_000); peak > limit {
			t.Errorf("%s: %d MiB for 1,000,000 rows", format, peak)
		}
	}
	for _, format := range []string{"csv", "json"} { // in pages
		if peak := peakMemory(t, whctl, format, 2_000_000, "--order-by", "InvoiceID"); peak > limit {
			t.Errorf("%s in pages: %d MiB for 2,000,000 rows", format, peak)
		}
	}
}

// A killed export leaves no file with the final name. A terminated or interrupted one
// leaves no file at all. An existing file is not changed.
func TestTerminatedExportLeavesTargetUnchanged(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		for _, format := range []string{"csv", "xlsx"} {
			dir := t.TempDir()
			old := filepath.Join(dir, "old")
			if err := os.WriteFile(old, []byte("unchanged"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"new", "old"} {
				started := make(chan struct{})
				cmd := process(t, serveRowsUntil(t, started), "query", "DB_Class", "--all", "--format", format, "-o", filepath.Join(dir, name))
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				<-started
				if err := cmd.Process.Signal(signal); err != nil {
					t.Error(err)
				}
				_ = cmd.Wait() // exit codes are tested elsewhere
			}
			var finals []string
			for _, name := range filesIn(t, dir) {
				if signal != syscall.SIGKILL || !strings.HasSuffix(name, ".part") {
					finals = append(finals, name)
				}
			}
			text, err := os.ReadFile(old)
			if len(finals) != 1 || finals[0] != "old" || err != nil || string(text) != "unchanged" {
				t.Errorf("%v, %s: left behind %q; the old file holds %q, %v", signal, format, finals, text, err)
			}
		}
	}
}

// serveRowsUntil streams rows without end. It closes started when it has sent more than
// the network can buffer, so that the client has received some.
func serveRowsUntil(t *testing.T, started chan struct{}) (url string) {
	const maxBuffered = 32 << 20
	server := httptest.NewServer(withoutKinds(func(w http.ResponseWriter, r *http.Request) {
		// The rows are long because a workbook has at most a million rows.
		long := strings.Repeat("A", 200)
		piece := startReply(w, r, "DB_Class", `{"Class":"`+long+`"}`, long, 1000)
		start := sync.OnceFunc(func() { close(started) })
		defer start()
		for sent := 0; ; sent += len(piece) {
			if sent > maxBuffered {
				start()
			}
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
