//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// A failed export prints an error, exits with its code, and leaves nothing on standard
// output and no file or part of one.
func TestFailedExportLeavesNoFile(t *testing.T) {
	for name, c := range map[string]struct {
		invocation
		code   int
		stderr string
	}{
		"unreachable": {
			invocation: invocation{env: map[string]string{profile.EnvURL: unreachableURL(t)}},
			code:       3,
			stderr:     "whctl: cannot reach http://127.0.0.1",
		},
		"no reply": {
			invocation: invocation{handler: noReply},
			code:       8,
			stderr:     "whctl: no response from http://127.0.0.1",
		},
		"HTML": {
			invocation: invocation{handler: htmlReply(200)},
			code:       1,
			stderr:     "whctl: unexpected response 200 OK as text/html; check that",
		},
		"HTML 404": {
			invocation: invocation{handler: htmlReply(404)},
			code:       5,
			stderr:     "whctl: unexpected response 404 Not Found as text/html",
		},
		"broken off": {
			invocation: invocation{handler: truncatedReply},
			code:       7,
			stderr:     "whctl: incomplete response: aborted after 1 rows",
		},
		"too few rows": {
			invocation: invocation{handler: wrongRowCount},
			code:       7,
			stderr:     "whctl: incomplete response: 1 of 2 rows arrived",
		},
		"unauthorized": {
			invocation: invocation{handler: status(401, "Unauthorized")},
			code:       4,
			stderr:     "whctl: Unauthorized: no good",
		},
		"no rows": {invocation: invocation{handler: rows(0)}, code: 0, stderr: "0 rows written to "},
	} {
		for _, format := range append(streaming(), "xlsx") {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				file := filepath.Join(dir, "export."+format)
				limit := "1m"
				if c.code == 8 {
					limit = "100ms" // is to be exceeded
				}
				got := c.run(t, "query", "DB_Class", "--all",
					"--timeout", limit, "--format", format, "-o", file)
				if got.code != c.code || got.stdout != "" || !strings.HasPrefix(got.stderr, c.stderr) {
					t.Errorf("got %v; want exit code %d, no stdout, stderr that starts with %q",
						got, c.code, c.stderr)
				}
				want := 0
				if c.code == 0 {
					want = 1
				}
				if files := filesIn(t, dir); len(files) != want {
					t.Errorf("got the files %q, want %d", files, want)
				}
			})
		}
	}
}

// filesIn returns the names of all files of a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// TestAllRetriesUnavailableService checks that --all retries a request after a gateway error, which
// other queries do not.
func TestAllRetriesUnavailableService(t *testing.T) {
	requests := 0
	failsOnce := func(w http.ResponseWriter, r *http.Request) {
		requests++
		if requests == 1 {
			htmlReply(http.StatusBadGateway)(w, r)
			return
		}
		rows(1, `{"Class":"A"}`)(w, r)
	}
	got := invocation{handler: failsOnce}.run(t, "query", "DB_Class", "--all", "--ndjson")
	if got.code != 0 || got.stdout != "{\"Class\":\"A\"}\n" || requests != 2 {
		t.Errorf("with --all: got %v after %d requests; want the row after 2", got, requests)
	}
	start := "unexpected response 502 Bad Gateway as text/html"
	if !strings.HasPrefix(got.stderr, start) || !strings.Contains(got.stderr, "; retrying in ") {
		t.Errorf("with --all: got stderr %q, want %q and the retry", got.stderr, start)
	}

	requests = 0
	got = invocation{handler: failsOnce}.run(t, "query", "DB_Class", "--csv")
	if got.code != 1 || requests != 1 {
		t.Errorf("without --all: got %v after %d requests; want exit code 1 after 1", got, requests)
	}

	requests = 0
	unavailable := func(w http.ResponseWriter, r *http.Request) {
		requests++
		status(http.StatusServiceUnavailable, "ServiceUnavailable")(w, r)
	}
	got = invocation{handler: unavailable}.run(t, "query", "DB_Class", "--all", "--csv", "-q")
	want := 1 + profile.Retries
	if got.code != 6 || got.stdout != "" || requests != want {
		t.Errorf("with --all, unavailable: got %v after %d requests; want exit code 6 after %d",
			got, requests, want)
	}
}

// TestDaemonKilledDuringExport checks that an export of which the daemon is killed leaves no file.
func TestDaemonKilledDuringExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// This fills the directory faster than a first start of the process.
	if err := daemontest.StartIn(t, dir, "--demo").Stop(); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{
		"csv", "json", "ndjson", "tsv", "xlsx", "raw", "raw:csv", "raw:xml",
	} {
		daemon, err := daemontest.Launch(dir, "--demo")
		if err != nil {
			t.Fatal(err)
		}
		if err := daemon.Await(); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		cmd := adminProcess(t, proxyThatKills(t, daemon, 20_000), "query", "SO_Totals", "--all",
			"--format", format, "-o", filepath.Join(to, "totals"))
		var stdout, stderr bytes.Buffer
		cmd.Stdout = &stdout
		cmd.Stderr = &stderr
		code := exitOf(t, cmd.Run())
		want := "whctl: incomplete response: aborted after "
		if code != 7 || stdout.Len() > 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: got exit code %d, stdout %q, stderr %q; want 7, none, %q",
				format, code, &stdout, &stderr, want)
		}
		if files := filesIn(t, to); files != nil {
			t.Errorf("%s: the files %q are left behind", format, files)
		}
	}
}

// proxyThatKills returns the URL of a proxy that kills the daemon after so many bytes of
// a reply. Without the proxy, the kernel could still deliver bytes that the daemon sent
// before.
func proxyThatKills(t *testing.T, daemon *daemontest.Process, bytes int64) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			requests := bufio.NewReader(connection)
			start, err := requests.Peek(len(kindsRequest))
			if err == nil && string(start) == kindsRequest {
				_, _ = io.WriteString(connection, notFoundReply)
				connection.Close()
				continue
			}
			proxyAndKill(t, daemon, connection, requests, bytes)
			return
		}
	}()
	return "http://" + listener.Addr().String()
}

// The request for the record kinds, to which the proxy replies like a service of an earlier version.
const (
	kindsRequest  = "GET /Kinds"
	notFoundReply = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

// proxyAndKill forwards requests to the daemon, and kills it after so many bytes of the reply.
func proxyAndKill(
	t *testing.T, daemon *daemontest.Process, connection net.Conn, requests io.Reader, bytes int64,
) {
	defer connection.Close()
	backend, err := net.Dial("tcp", strings.TrimPrefix(daemon.URL, "http://"))
	if err != nil {
		t.Error(err)
		return
	}
	defer backend.Close()
	go io.Copy(backend, requests)
	if _, err := io.CopyN(connection, backend, bytes); err != nil {
		t.Errorf("the reply is too short for this test: %v", err)
	}
	if err := daemon.Kill(); err != nil {
		t.Error(err)
	}
}
