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

// TestRequestLogOnAFullDisk runs the next test in a process of its own, in which
// the system refuses to write files, as a full disk does.
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
	asked := 1
	for ; !strings.Contains(i.Log.String(), "the request log cannot be written"); asked++ {
		c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	}
	for range 200 {
		c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	}
	c.do("GET /readyz", "").want(t, 503) // the limit is also that of the service's own tables
	metrics := c.do("GET /metrics", "").body
	if strings.Contains(metrics, "whd_requestlog_write_failures_total 0\n") || strings.Contains(metrics, "whd_requestlog_buffered_entries 0\n") {
		t.Errorf("the metrics know of no failure:\n%s", metrics)
	}
	setLimit(t, ^uint64(0))
	for !strings.Contains(i.Log.String(), "the request log can be written again") { // each reader of the log has it tried again
		c.logs("/Logs?Take=1")
		asked++
	}
	if n := strings.Count(i.Log.String(), "requests are served"); n != 1 {
		t.Errorf("%d lines say that it cannot be written", n)
	}
	a := c.do("GET /Logs?Take=1&Include=Total", "").want(t, 200)
	if got := *a.envelope(t).Total; got != int64(asked+200) {
		t.Errorf("%d entries of %d requests", got, asked+200)
	}
}

// setLimit bounds where in a file this process may write. It leaves the
// hard limit alone, so that it can be taken back.
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
