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

// TestBrokenCommandsAreSeen gives the session commands that a README must not have.
func TestBrokenCommandsAreSeen(t *testing.T) {
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
		{"timeout 9 no-such-command || true", "with status 127"},
		{"timeout 9 curl URL/wrong || true", "with status 22"},
		{"timeout 9 true || true", "ended by itself"},
		{"sleep 99 &", "was left behind"},
		{"echo 'open\ntrue", ". "},
		{"cat\nfalse", "false"},
		{"export ID=\"$(curl URL/ && echo 4711)\"\ntimeout 0.1 sleep 99 || true\ntrue | cat", ""},
	}
	for _, c := range cases {
		said, failed, ended := s.try(t, strings.ReplaceAll(c.commands, "URL", server.URL))
		if !ended || !strings.Contains(failed, c.failed) || (failed == "") != (c.failed == "") {
			t.Errorf("%s\nfailed: %q, want %q; it said %s", c.commands, failed, c.failed, said)
		}
		if strings.HasSuffix(c.commands, "&") {
			s.try(t, "kill $!; wait $! || true")
		}
	}
}

// TestNothingIsLeftBehind where a command ends the shell, as an unset variable does.
func TestNothingIsLeftBehind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("run:\n\t@echo $$$$ >started; exec sleep 99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := begin(t, dir, freeAddress(t))
	if said, failed, ended := s.try(t, "mkfifo started; command make run >/dev/null 2>&1 & SERVER=$!; read -r ID <started; echo $ID >id; : $NOT_SET"); ended {
		t.Fatalf("it goes on: %s, failed: %s", said, failed)
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
		t.Error("what make run has started is left")
	}
}
