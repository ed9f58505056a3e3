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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// totalsRow is a row of SO_Totals.
var totalsRow = streamedRow{
	json: `{"InvoiceID":"D100512","InvoiceTotal":40002.1500,` +
		`"Cartage1Total":12.5000,"Cartage1TaxTotal":1.2500}`,
	csv: "D100512,40002.1500,12.5000,1.2500,,,,",
}

// serveRows streams count rows of SO_Totals, also in pages by cursor: the number of rows
// before the page.
func serveRows(t *testing.T, count int) (url string) {
	t.Helper()
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
		text := startReply(w, r, "SO_Totals", totalsRow, piece)
		for range rows / piece {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
		if before+rows < count {
			w.Header().Set(wire.HeaderNextCursor, strconv.Itoa(before+rows))
		}
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(rows))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// streamedRow is a row in the formats of streams.
type streamedRow struct{ json, csv string }

// startReply starts a stream in NDJSON or CSV, and returns a row of it many times.
func startReply(
	w http.ResponseWriter, r *http.Request, kind string, row streamedRow, count int,
) string {
	if r.URL.Query().Get("format") != "csv" {
		w.Header().Set("Content-Type", "application/x-ndjson")
		return strings.Repeat(row.json+"\n", count)
	}
	w.Header().Set("Content-Type", "text/csv")
	w.Header().Set(wire.HeaderFormulaGuard, "false")
	recordKind, _ := record.Builtin().Lookup(kind)
	io.WriteString(w, strings.Join(recordKind.FieldNames(), ",")+"\r\n")
	return strings.Repeat(row.csv+"\r\n", count)
}

// lastRuns is the number of the last runs of the garbage collector that heapMemory looks at.
const lastRuns = 3

// heapMemory returns the size of the objects in use at the end of an export, in MiB, as the last
// runs of the garbage collector found. The smallest size counts, since each includes the objects
// that were allocated during the run, which are many on a busy machine.
func heapMemory(t *testing.T, program, format string, count int, flags ...string) (mebibytes int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "totals")
	args := append([]string{"query", "SO_Totals", "--all", "--format", format, "-o", path}, flags...)
	cmd := process(t, serveRows(t, count), args...)
	cmd.Path = program
	cmd.Env = append(cmd.Env, "GODEBUG=gctrace=1", "GOGC=10", "GOMEMLIMIT=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	want := display.Thousands(int64(count)) + " rows written"
	if err != nil || !strings.Contains(stderr.String(), want) {
		t.Fatalf("%s: got error %v, stderr %q; want %q", format, err, &stderr, want)
	}

	runs := gcTrace.FindAllStringSubmatch(stderr.String(), -1)
	var sizes []int
	for _, run := range runs {
		size, err := strconv.Atoi(run[1])
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, size)
	}
	if len(sizes) < lastRuns {
		return 0 // with GOGC=10, the heap has not reached a megabyte
	}
	return slices.Min(sizes[len(sizes)-lastRuns:])
}

// gcTrace matches a line that GODEBUG=gctrace=1 prints for a run of the garbage collector, with the
// size of the objects in use after it.
var gcTrace = regexp.MustCompile(`(?m)^gc \d+ @.* \d+->\d+->(\d+) MB, `)

// Memory use does not depend on the number of rows: an export that kept 25 bytes of each
// row would exceed the limit.
func TestMemoryOfExports(t *testing.T) {
	whctl := builtProgram(t) // the tests' own contains the service too
	for _, format := range []string{"csv", "xlsx", "json", "table"} {
		const limit = 15 // MiB
		if size := heapMemory(t, whctl, format, 1_000_000); size > limit {
			t.Errorf("%s: %d MiB in use after 1,000,000 rows, want at most %d", format, size, limit)
		}
	}
	for _, format := range []string{"csv", "json"} {
		const limit = 40 // MiB; half of them are the buffer of a page
		if size := heapMemory(t, whctl, format, 2_000_000, "--order-by", "InvoiceID"); size > limit {
			t.Errorf("%s in pages: %d MiB in use after 2,000,000 rows, want at most %d", format, size, limit)
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
			endExport(t, signal, format, filepath.Join(dir, "new"))
			endExport(t, signal, format, old)

			files := filesIn(t, dir)
			if signal == syscall.SIGKILL { // whctl cannot remove a temporary file
				files = slices.DeleteFunc(files, func(name string) bool {
					return strings.HasSuffix(name, ".part")
				})
			}
			if want := []string{"old"}; !slices.Equal(files, want) {
				t.Errorf("%v, %s: got the files %q, want %q", signal, format, files, want)
			}
			text, err := os.ReadFile(old)
			if err != nil || string(text) != "unchanged" {
				t.Errorf("%v, %s: the old file has %q, error %v; want it unchanged",
					signal, format, text, err)
			}
		}
	}
}

// endExport starts an export to a file and ends it with a signal.
func endExport(t *testing.T, signal syscall.Signal, format, path string) {
	t.Helper()
	started := make(chan struct{})
	cmd := process(t, serveRowsUntil(t, started),
		"query", "DB_Class", "--all", "--format", format, "-o", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-started
	if err := cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // exit codes are tested elsewhere
}

// serveRowsUntil streams rows without end. It closes started when it has sent more than
// the network can buffer, so that the client has received some.
func serveRowsUntil(t *testing.T, started chan struct{}) (url string) {
	const maxBuffered = 32 << 20 // in bytes
	server := httptest.NewServer(withoutKinds(func(w http.ResponseWriter, r *http.Request) {
		// The rows are long because a workbook has at most a million rows.
		long := strings.Repeat("A", 200)
		row := streamedRow{json: `{"Class":"` + long + `"}`, csv: long}
		piece := startReply(w, r, "DB_Class", row, 1000)
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
