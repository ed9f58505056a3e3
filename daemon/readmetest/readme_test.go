package readmetest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/daemon/daemontest"
)

// prelude defines how the shell runs the commands of a page: failures are recorded, also
// in the middle of a line; curl fails on error replies and redirects; exported variables
// may not be empty; commands under timeout must run until it ends; and the service that
// make run starts stays in the background, as in another terminal, until the shell ends.
const prelude = `
set -u -E -o pipefail
failed() { echo "$*" >>"$FAILED"; }
curl() { command curl --fail-with-body --location --max-redirs 0 --silent --show-error "$@" </dev/null; }
export() {
    builtin export "$@"
    local each
    for each; do
        each=${each%%=*}
        [ -n "${!each}" ] || failed "export $each: it is empty"
    done
}
timeout() {
    local limit=$1 status=0
    shift
    if [ "$1" = curl ]; then set -- curl --fail-with-body "${@:2}"; fi
    command timeout "$limit" "$@" </dev/null || status=$?
    [ "$status" -eq 124 ] || failed "$*: it ended by itself, with status $status"
}
stop() { if [ -n "${SERVER:-}" ]; then kill "$SERVER"; wait "$SERVER" || true; SERVER=; fi; } 2>/dev/null
trap stop EXIT
make() {
    if [ "${1:-}" != run ]; then command make "$@" </dev/null; return; fi
    local args="${2:-}"
    stop
    command make run ARGS="--listen ADDRESS --webhooks-host-url http://ADDRESS ${args#ARGS=}" >"$FAILED.run" 2>&1 </dev/null &
    SERVER=$!
    until command curl --fail --silent --output /dev/null http://ADDRESS/readyz; do
        kill -0 "$SERVER" || { cat "$FAILED.run"; return 1; }
        sleep 0.1
    done
}
alone() {
    local job
    for job in $(jobs -p); do
        [ "$job" = "${SERVER:-}" ] || failed "process $job was left behind"
    done
}
`

// mark ends the output of a block.
const mark = "\x1e"

// setup is the start of the README's block that sets the variables for all pages.
const setup = "export WHD="

// TestManual runs the commands of the README, one block after another, in a shell in a copy
// of the repository. It then runs those of each page of the manual, in a new shell with the
// variables of the README and with the demo running. Files that the commands write are
// ignored by git, so that the first `git status` shows the reader's own changes only.
func TestManual(t *testing.T) {
	if goldentest.Updating() {
		t.Skip("writes nothing")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	dir, address := checkout(t), freeAddress(t)
	used := make(map[string]int)
	start := readPage(t, readme)
	variables := variablesBlock(t, start)
	begin(t, dir, address).follow(t, start, used)
	for _, p := range manual(t) {
		t.Run(strings.TrimSuffix(p.path, ".md"), func(t *testing.T) {
			s := begin(t, dir, address)
			s.run(t, start.path, variables.line, strings.Join(variables.lines, "\n"))
			s.follow(t, p, used)
		})
	}
	for _, file := range strayFiles(t, dir) {
		t.Errorf("a command of the manual writes %s, which git status shows: add it to .gitignore", file)
	}
	for _, e := range exempt {
		if used[e.command] == 0 {
			t.Errorf("no line of the manual starts with %q any more", e.command)
		}
	}
}

func variablesBlock(t *testing.T, p page) block {
	t.Helper()
	for _, b := range blocksOf(t, p) {
		if b.language == "sh" && strings.HasPrefix(b.lines[0], setup) {
			return b
		}
	}
	t.Fatalf("%s has no block that starts with %s", p.path, setup)
	return block{}
}

// follow runs the commands of a page and compares their output with that on the page.
func (s *session) follow(t *testing.T, p page, used map[string]int) {
	t.Helper()
	var output string
	for _, b := range blocksOf(t, p) {
		switch b.language {
		case "sh":
			output = s.run(t, p.path, b.line, b.runnable(used))
		case "text":
			want := missingLine(strings.ReplaceAll(output, s.address, "127.0.0.1:5050"), b.lines)
			if want != "" {
				t.Errorf("%s:%d: the commands before it do not print %q; output:\n%s", p.path, b.line, want, output)
			}
		}
	}
}

// session is a shell that runs one block after another.
type session struct {
	address string
	block   string // the file of the block that is run
	failed  string // the file of the failures in it
	in      io.Writer
	out     *bufio.Reader
}

func begin(t *testing.T, dir, address string) *session {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "make", "timeout"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}

	files := t.TempDir()
	s := &session{
		address: address,
		block:   filepath.Join(files, "block"),
		failed:  filepath.Join(files, "failed"),
	}
	sh := exec.Command("bash", "--noprofile", "--norc")
	sh.Dir = dir
	sh.Env = append(os.Environ(), "HOME="+t.TempDir(), "GOCACHE="+goEnv(t, "GOCACHE"),
		"GOMODCACHE="+goEnv(t, "GOMODCACHE"), "WHCTL_CONFIG=", "LC_ALL=C.UTF-8", "BLOCK="+s.block, "FAILED="+s.failed)
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
		_ = in.Close()
		_, _ = io.Copy(io.Discard, s.out)
		_ = sh.Wait()
	})
	s.run(t, "the prelude", 0, prelude)
	return s
}

// TestSessionInAnyDirectory runs a block in a temporary directory with a name of characters that
// the shell expands.
func TestSessionInAnyDirectory(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "x$X `a` \"b\" [c]")
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Run("block", func(t *testing.T) {
		t.Setenv("TMPDIR", parent)
		s := begin(t, t.TempDir(), "")
		if output := s.run(t, "test", 1, "echo works"); !strings.Contains(output, "works") {
			t.Errorf("the block printed %q, want works", output)
		}
	})
}

// run runs a block, expects that no command fails, and returns its output.
func (s *session) run(t *testing.T, page string, line int, commands string) string {
	t.Helper()
	output, failed, alive := s.try(t, commands)
	switch {
	case !alive:
		t.Fatalf("%s:%d: the shell ended\n%s", page, line, output)
	case failed != "":
		t.Errorf("%s:%d: these failed: %s\n%s", page, line, failed, output)
	default:
		t.Logf("%s:%d\n%s", page, line, output)
	}
	return output
}

// try runs a block from a file, so that no command can read the following ones as its
// input. It returns the output, the failed commands, and whether the shell is still alive.
func (s *session) try(t *testing.T, commands string) (output, failed string, alive bool) {
	t.Helper()
	commands = strings.NewReplacer("127.0.0.1:5050", s.address, "ADDRESS", s.address).Replace(commands)
	for name, text := range map[string]string{s.block: commands + "\n", s.failed: ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(s.in, `trap 'failed "$BASH_COMMAND"' ERR
. "$BLOCK" </dev/null
trap - ERR
alone
printf '\n%s\n'
`, mark)
	output, alive = s.readOutput()
	text, err := os.ReadFile(s.failed)
	if err != nil {
		t.Fatal(err)
	}
	return output, strings.Join(strings.Split(strings.TrimSpace(string(text)), "\n"), "; "), alive
}

// readOutput reads the output of a block.
func (s *session) readOutput() (output string, alive bool) {
	var lines strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return lines.String(), false
		}
		if line == mark+"\n" {
			return lines.String(), true
		}
		lines.WriteString(line)
	}
}

// checkout copies the repository's files, without ignored ones, to a temporary directory.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Skip("not in a git repository: ", err)
	}

	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted in the work tree
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(root, name))
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

// strayFiles returns the files in a copy of the repository that are neither in the
// repository nor ignored by git.
func strayFiles(t *testing.T, dir string) []string {
	t.Helper()
	list := exec.Command("git", "--git-dir", gitDir(t), "--work-tree", dir, "ls-files", "-z",
		"--others", "--exclude-standard")
	list.Dir = dir
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var stray []string
	for name := range strings.SplitSeq(string(names), "\x00") {
		if name == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, name)); os.IsNotExist(err) {
			stray = append(stray, name)
		}
	}
	return stray
}

func gitDir(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("git", "rev-parse", "--absolute-git-dir")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// freeAddress returns an unused address of this machine.
func freeAddress(t *testing.T) string {
	return fmt.Sprintf("127.0.0.1:%d", daemontest.FreePort(t))
}
