package daemon_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/daemon/whd"
)

// TestStalledLog sends many requests while standard error, a pipe, is not read. All of them
// must be answered. Lines that do not fit are counted, and the others written once the pipe
// is read.
func TestStalledLog(t *testing.T) {
	t.Parallel()
	const requests = 2500 // of 1.5 KB each: more than the pipe and the queue hold
	log, stderr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}

	out := make(output, 100)
	signals := make(chan os.Signal, 1)
	status := make(chan int, 1)
	args := []string{
		"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(), "--config=",
		"--log-requests", "always", "--http-shutdown-grace", "2m",
	}
	go func() {
		status <- whd.Main(whd.Process{
			Args:    args,
			Stdin:   new(bytes.Reader),
			Stdout:  out,
			Stderr:  stderr,
			Signals: signals,
		})
		stderr.Close()
	}()
	url := regexp.MustCompile(`serves (https?://\S+)`).FindStringSubmatch(<-out)[1]
	path := url + "/" + strings.Repeat("x", 1500)
	for range requests {
		if reply, _ := get(t, path); reply.StatusCode != 404 {
			t.Fatalf("status %d", reply.StatusCode)
		}
	}

	_, metrics := get(t, url+"/metrics")
	lost := regexp.MustCompile(`(?m)^whd_log_lines_dropped_total (\d+)$`).FindStringSubmatch(metrics)
	if lost == nil || lost[1] == "0" {
		t.Fatalf("no lines were dropped: %v", lost)
	}

	var text strings.Builder
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		text.WriteString(line)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "log lines were dropped") { // now the last lines find room
			signals <- os.Interrupt
		}
	}

	if got := <-status; got != 0 {
		t.Errorf("exit status %d", got)
	}

	reported := 0
	for _, m := range regexp.MustCompile(`level=WARN msg="standard error was not read; log lines were dropped" lost=(\d+)`).FindAllStringSubmatch(text.String(), -1) {
		n, _ := strconv.Atoi(m[1])
		reported += n
	}

	written := strings.Count(text.String(), "msg=request ")
	if fmt.Sprint(reported) != lost[1] || written+reported != requests {
		t.Errorf("%d lines and %d reported as lost for %d requests; the metric is %s",
			written, reported, requests, lost[1])
	}
	if !strings.Contains(text.String(), "msg=stopping") {
		t.Error("the last line is missing")
	}
}
