package sender

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/webhook"
)

// example is one of the manual's programs that verify signatures, with what
// makes a command of it: its arguments are secret, id, timestamp and signatures,
// its input is the body, and it says true or false.
type example struct {
	fence string // of the program on the page
	needs string // the command that must be here
	file  string
	edit  func(program string) string
	more  map[string]string // other files
	build []string
	run   []string
}

var examples = map[string]example{
	"Go": {
		fence: "go", needs: "go", file: "receiver.go",
		edit: func(program string) string { return strings.Replace(program, "package receiver", "package main", 1) },
		more: map[string]string{"go.mod": "module receiver\n\ngo 1.26\n", "main.go": `package main

import ("fmt"; "io"; "net/http"; "os")

func main() {
	body, _ := io.ReadAll(os.Stdin)
	h := make(http.Header)
	for i, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		h.Set(name, os.Args[2+i])
	}
	fmt.Println(Verify(os.Args[1], h, body))
}
`},
		build: []string{"go", "build", "-o", "receiver.exe", "."}, run: []string{"./receiver.exe"},
	},
	"C#": {
		fence: "csharp", needs: "mcs", file: "Webhooks.cs",
		more: map[string]string{"Program.cs": `public static class Program
{
    public static void Main(string[] args)
    {
        var body = new System.IO.MemoryStream();
        System.Console.OpenStandardInput().CopyTo(body);
        System.Console.WriteLine(Webhooks.Verify(args[0], args[1], args[2], args[3], body.ToArray()) ? "true" : "false");
    }
}
`},
		build: []string{"mcs", "-out:receiver.exe", "Webhooks.cs", "Program.cs"}, run: []string{"mono", "receiver.exe"},
	},
	"PHP": {
		fence: "php", needs: "php", file: "receiver.php",
		edit: func(program string) string {
			return program + `echo verify($argv[1], $argv[2], $argv[3], $argv[4], file_get_contents('php://stdin')) ? 'true' : 'false';`
		},
		run: []string{"php", "receiver.php"},
	},
	"JavaScript": {
		fence: "javascript", needs: "node", file: "receiver.js",
		edit: func(program string) string {
			return program + `
const [secret, id, timestamp, signatures] = process.argv.slice(2);
const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures };
console.log(verify(secret, headers, require('fs').readFileSync(0)));
`
		},
		run: []string{"node", "receiver.js"},
	},
	"Python": {
		fence: "python", needs: "python3", file: "receiver.py",
		edit: func(program string) string {
			return program + `
import sys
secret, id, timestamp, signatures = sys.argv[1:]
headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures}
print(str(verify(secret, headers, sys.stdin.buffer.read())).lower())
`
		},
		run: []string{"python3", "receiver.py"},
	},
}

// TestReadmeVerifies has each program of the manual verify what we sign, and
// refuse what somebody else might send.
func TestReadmeVerifies(t *testing.T) {
	text, err := os.ReadFile("../../../cmd/daemon/docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			clientstest.Tool(t, e.needs)
			e.check(t, e.lay(t, program(t, string(text), e.fence)))
		})
	}
}

// program returns the block of a language on the page.
func program(t *testing.T, text, fence string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "```"+fence+"\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("verify.md has no block of %s", fence)
	}
	return block
}

// lay writes the files of a program to a directory and builds it.
func (e example) lay(t *testing.T, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if e.edit != nil {
		program = e.edit(program)
	}
	files := map[string]string{e.file: program}
	for name, text := range e.more {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if e.build != nil {
		build := exec.Command(e.build[0], e.build[1:]...)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", e.build, err, out)
		}
	}
	return dir
}

func (e example) check(t *testing.T, dir string) {
	secret, other := webhook.NewSecret(), webhook.NewSecret()
	const id, body = "msg_1", `{"Name": "Müller & Söhne"}`
	now := time.Now()
	at := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	by := func(at time.Time, secrets ...string) string { return sign(secrets, id, at, []byte(body)) }
	right := by(now, secret)
	for _, c := range []struct {
		name, id, timestamp, signatures, body string
		want                                  bool
	}{
		{"as it came", id, at(0), right, body, true},
		{"one of two secrets", id, at(0), by(now, other, secret), body, true},
		{"two minutes old", id, at(-2 * time.Minute), by(now.Add(-2*time.Minute), secret), body, true},
		{"another secret", id, at(0), by(now, other), body, false},
		{"another body", id, at(0), right, body + " ", false},
		{"another id", "msg_2", at(0), right, body, false},
		{"another time", id, at(time.Second), right, body, false},
		{"recorded", id, at(-time.Hour), by(now.Add(-time.Hour), secret), body, false},
		{"ahead", id, at(time.Hour), by(now.Add(time.Hour), secret), body, false},
		{"no number", id, "yesterday", right, body, false},
		{"cut", id, at(0), right[:len(right)-4], body, false},
		{"of another kind", id, at(0), "v2" + right[2:], body, false},
	} {
		run := exec.Command(e.run[0], append(e.run[1:len(e.run):len(e.run)], secret, c.id, c.timestamp, c.signatures)...)
		run.Dir, run.Stdin = dir, strings.NewReader(c.body)
		out, err := run.Output()
		if got := string(bytes.TrimSpace(out)); err != nil || got != strconv.FormatBool(c.want) {
			t.Errorf("%s: said %q (%v), want %t", c.name, got, err, c.want)
		}
	}
}
