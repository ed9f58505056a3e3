//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// process returns a command that runs whctl as a separate process.
func process(t *testing.T, url string, args ...string) *exec.Cmd {
	t.Helper()
	path := program(t) // builds it, which the time limit does not include
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), profile.EnvURL+"="+url)
	return cmd
}

// adminProcess returns a command that runs whctl as the admin of a service.
func adminProcess(t *testing.T, url string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := process(t, url, args...)
	cmd.Env = append(cmd.Env,
		profile.EnvUser+"=admin", profile.EnvPassword+"="+daemontest.AdminPassword)
	return cmd
}

// exitOf returns the exit code of a process.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

// serveEndlessRows streams rows until the client closes the connection.
func serveEndlessRows(t *testing.T) string {
	server := httptest.NewServer(withoutKinds(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		piece := strings.Repeat(`{"Class":"A"}`+"\n", 1000)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A reader that closes the pipe early, such as head, is not a failure.
func TestBrokenPipeIsSuccess(t *testing.T) {
	for _, format := range streaming() {
		cmd := process(t, serveEndlessRows(t), "query", "DB_Class", "--all", "--format", format)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Error(err)
		}
		out.Close()
		if code := exitOf(t, cmd.Wait()); code != 0 || stderr.Len() > 0 {
			t.Errorf("%s into a pipe that is closed: got exit code %d, stderr %q; want 0 and none",
				format, code, &stderr)
		}
	}
}

// TestTailEndsWithItsReader checks that a live stream in CSV ends if its header cannot be written,
// although no event arrives.
func TestTailEndsWithItsReader(t *testing.T) {
	server := httptest.NewServer(withoutKinds(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	cmd := process(t, server.URL, "requests", "tail", "--csv")
	var stderr bytes.Buffer
	cmd.Stdout = writer
	cmd.Stderr = &stderr
	err = cmd.Run()
	writer.Close()
	if code := exitOf(t, err); code != 0 {
		t.Errorf("got exit code %d, want 0, as for any closed pipe; stderr %q", code, &stderr)
	}
}

// interruptedAfter is the start of the error of an interrupted query.
const interruptedAfter = "whctl: interrupted after "

// TestInterrupt checks that a signal ends a query after a whole row.
func TestInterrupt(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		cmd := process(t, serveEndlessRows(t), "query", "DB_Class", "--csv")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(out)
		if _, err := in.ReadString('\n'); err != nil {
			t.Error(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		remainder, err := io.ReadAll(in)
		if err != nil || !bytes.HasSuffix(remainder, []byte("A\n")) {
			t.Errorf("%v: the output ends in %.20q, error %v; want a whole row",
				signal, remainder[max(0, len(remainder)-20):], err)
		}
		code := exitOf(t, cmd.Wait())
		if code != 130 || !strings.HasPrefix(stderr.String(), interruptedAfter) {
			t.Errorf("%v: got exit code %d, stderr %q; want 130 and %q",
				signal, code, &stderr, interruptedAfter)
		}
	}
}

// startExport starts an export to dir/export and waits until its temporary file has
// data. start is the command line before that of whctl.
func startExport(t *testing.T, dir string, start ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	args := append(start, program(t), "query", "DB_Class", "--csv", "-o", filepath.Join(dir, "export"))
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), profile.EnvURL+"="+serveEndlessRows(t))
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		for _, name := range filesIn(t, dir) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
				return cmd, stderr
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the export does not start")
	return nil, nil
}

// An interrupted export leaves no file, also if the terminal is closed.
func TestInterruptedExportLeavesNoFile(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		cmd, stderr := startExport(t, dir)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		code := exitOf(t, cmd.Wait())
		if code != 130 || !strings.HasPrefix(stderr.String(), interruptedAfter) {
			t.Errorf("%v: got exit code %d, stderr %q; want 130 and %q",
				signal, code, stderr, interruptedAfter)
		}
		if files := filesIn(t, dir); files != nil {
			t.Errorf("%v: the files %q are left behind", signal, files)
		}
	}
}

// Under nohup, a hangup does not end an export.
func TestIgnoredHangupIsNotHandled(t *testing.T) {
	cmd, _ := startExport(t, t.TempDir(), "nohup")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal("the hangup ended the export")
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("the export ended with %v", err)
	}
}
