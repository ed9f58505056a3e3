package readme

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// prelude is what the session knows before the README begins: curl fails on
// answers that are errors, and a service that is run goes on beside the
// commands, as in another terminal.
const prelude = `
set -u -o pipefail
curl() { command curl --fail-with-body --silent --show-error "$@" </dev/null; }
stop() { if [ -n "${SERVER:-}" ]; then kill "$SERVER"; wait "$SERVER"; SERVER=; fi; } 2>/dev/null
make() {
    if [ "${1:-}" != run ]; then command make "$@" </dev/null; return; fi
    local args="${2:-}"
    stop
    command make run ARGS="--listen ADDRESS ${args#ARGS=}" >run.log 2>&1 </dev/null &
    SERVER=$!
    until command curl --fail --silent --output /dev/null http://ADDRESS/readyz; do
        kill -0 "$SERVER" || { cat run.log; return 1; }
        sleep 0.1
    done
}
`

// mark ends the output of a block.
const mark = "\x1e"

// TestReadme runs the commands of the README, one block after another, in a
// shell whose directory is a copy of this one.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds both programs")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	s := begin(t)
	used := make(map[string]int)
	for _, b := range readmeBlocks(t) {
		if b.language == "sh" {
			s.run(t, b.line, b.elsewhere(used))
		}
	}
	for _, e := range exempt {
		if used[e.command] == 0 {
			t.Errorf("no line of README.md begins with %q any more", e.command)
		}
	}
}

// session is a shell that takes one block after another.
type session struct {
	address string
	in      io.Writer
	out     *bufio.Reader
}

func begin(t *testing.T) *session {
	s := &session{address: freeAddress(t)}
	sh := exec.Command("bash", "--noprofile", "--norc")
	sh.Dir = checkout(t)
	sh.Env = append(os.Environ(), "HOME="+t.TempDir(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "WHCTL_CONFIG=", "LC_ALL=C.UTF-8")
	in, err := sh.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := sh.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	sh.Stderr = sh.Stdout
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	t.Cleanup(func() {
		_, _ = io.WriteString(s.in, "stop\nexit\n")
		_, _ = io.Copy(io.Discard, s.out)
		_ = sh.Wait()
	})
	s.run(t, 0, prelude)
	return s
}

// run runs a block. Every command must succeed, and every variable that it
// exports hold something.
func (s *session) run(t *testing.T, line int, commands string) {
	t.Helper()
	commands = strings.NewReplacer("127.0.0.1:5050", s.address, "ADDRESS", s.address).Replace(commands)
	var checks strings.Builder
	for _, name := range exported.FindAllStringSubmatch(commands, -1) {
		fmt.Fprintf(&checks, "[ -n \"$%s\" ]\n", name[1])
	}
	fmt.Fprintf(s.in, "FAILED=\ntrap 'FAILED+=\"$BASH_COMMAND; \"' ERR\n%s\n%strap - ERR\nprintf '\\n%%s\\n%s\\n' \"$FAILED\"\n", commands, &checks, mark)
	said, failed, ended := s.answer()
	switch {
	case !ended:
		t.Fatalf("README.md:%d: the shell ended\n%s", line, said)
	case failed != "":
		t.Errorf("README.md:%d: these failed: %s\n%s", line, failed, said)
	default:
		t.Logf("README.md:%d\n%s", line, said)
	}
}

// answer reads what a block prints, whose last line names the commands that
// failed.
func (s *session) answer() (said, failed string, ended bool) {
	var lines []string
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return strings.Join(lines, ""), "", false
		}
		if line == mark+"\n" {
			last := len(lines) - 1
			return strings.Join(lines[:last], ""), strings.TrimSpace(lines[last]), true
		}
		lines = append(lines, line)
	}
}

// checkout copies what the repository holds to a directory of its own.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = "../.."
	names, err := list.Output()
	if err != nil {
		t.Skip("this is no git repository: ", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // removed, but not yet in a commit
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// freeAddress is an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
