package readmetest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestFailingCommandsAreDetected runs commands that fail in ways that a shell ignores.
func TestFailingCommandsAreDetected(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/wrong":
			http.Error(w, "not an id", http.StatusForbidden)
		}
	}))
	defer server.Close()
	s := begin(t, t.TempDir(), freeAddress(t))
	cases := []struct{ commands, failed string }{
		{"false | true", "true"},
		{"export ID=\"$(curl URL/wrong)\"", "command curl"},
		{"export ID=\"$(curl URL/)\"", "ID: it is empty"},
		{"export ONE=1 TWO=", "TWO: it is empty"},
		{"  export INDENTED=", "INDENTED: it is empty"},
		{"curl URL/moved", "command curl"},
		{"eval \"$(no-such-command)\"", "no-such-command"},
		{"timeout 300 no-such-command || true", "with status 127"},
		{"timeout 300 curl URL/wrong || true", "with status 22"},
		{"timeout 300 true || true", "ended by itself"},
		{"sleep 99 &", "was left behind"},
		{"echo 'open\ntrue", ". "},
		{"cat\nfalse", "false"},
		{"export ID=\"$(curl URL/ && echo 4711)\"\ntimeout 0.1 sleep 99 || true\ntrue | cat", ""},
	}

	for _, c := range cases {
		output, failed, alive := s.try(t, strings.ReplaceAll(c.commands, "URL", server.URL))
		if !alive || !strings.Contains(failed, c.failed) || (failed == "") != (c.failed == "") {
			t.Errorf("%s\nfailed: %q, want %q; output %s", c.commands, failed, c.failed, output)
		}
		if strings.HasSuffix(c.commands, "&") {
			s.try(t, "kill $!; wait $! || true")
		}
	}
}

// TestServiceIsStoppedWithShell checks that no process is left if a command, such as the
// use of an unset variable, ends the shell.
func TestServiceIsStoppedWithShell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, "Makefile"),
		[]byte("run:\n\t@echo $$$$ >started; exec sleep 99\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, dir, freeAddress(t))
	output, failed, alive := s.try(t, "mkfifo started; command make run >/dev/null 2>&1 & SERVER=$!; read -r ID <started; echo $ID >id; : $NOT_SET")
	if alive {
		t.Fatalf("the shell is still alive: %s, failed: %s", output, failed)
	}
	text, err := os.ReadFile(filepath.Join(dir, "id"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if process, err := os.FindProcess(id); err == nil && process.Signal(syscall.Signal(0)) == nil {
		_ = process.Kill()
		t.Error("the process started by make run is still running")
	}
}
