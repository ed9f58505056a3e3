//go:build unix

package rest_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

const fullVariable = "WHD_TEST_LOG_FULL"

// TestRequestLogOnAFullDisk runs the next test in a separate process with a file
// size limit, which fails writes like a full disk.
func TestRequestLogOnAFullDisk(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnderAFileSizeLimit$", "-test.v")
	cmd.Env = append(os.Environ(), fullVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestUnderAFileSizeLimit") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUnderAFileSizeLimit(t *testing.T) {
	if os.Getenv(fullVariable) == "" {
		t.Skip("part of TestRequestLogOnAFullDisk")
	}

	i := daemontest.Start(t)
	c := asAdmin(t, i)
	c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	setLimit(t, 1)
	sent := 1
	for ; !strings.Contains(i.Log.String(), "the request log cannot be written"); sent++ {
		c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	}

	for range 200 {
		c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	}

	c.do("GET /readyz", "").want(t, 503) // the limit is also that of the service's own tables
	metrics := c.do("GET /metrics", "").body
	if strings.Contains(metrics, "whd_requestlog_write_failures_total 0\n") ||
		strings.Contains(metrics, "whd_requestlog_buffered_entries 0\n") {
		t.Errorf("no write failure in the metrics:\n%s", metrics)
	}

	setLimit(t, ^uint64(0))
	for !strings.Contains(i.Log.String(), "the request log can be written again") { // each read of the log retries
		c.logs("/Logs?Take=1")
		sent++
	}

	if n := strings.Count(i.Log.String(), "requests are served"); n != 1 {
		t.Errorf("%d log lines about failed writes, want 1", n)
	}

	a := c.do("GET /Logs?Take=1&Include=Total", "").want(t, 200)
	if got := *a.envelope(t).Total; got != int64(sent+200) {
		t.Errorf("%d entries of %d requests", got, sent+200)
	}
}

// setLimit sets the file size limit of this process. The hard limit is unchanged, so
// that the limit can be reset.
func setLimit(t *testing.T, bytes uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = min(bytes, limit.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
}
