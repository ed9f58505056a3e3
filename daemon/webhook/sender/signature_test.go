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

// example is a program of the manual that verifies signatures, with the additions that
// turn it into a command: its arguments are secret, ID, timestamp and signatures, stdin
// is the body, and it prints true or false.
type example struct {
	fence        string // language of the code block
	tool         string // the command that must be installed
	file         string
	edit         func(program string) string
	extraFiles   map[string]string // other files
	buildCommand []string
	runCommand   []string
}

var examples = map[string]example{
	"Go": {
		fence: "go", tool: "go", file: "receiver.go",
		edit: func(program string) string { return strings.Replace(program, "package receiver", "package main", 1) },
		extraFiles: map[string]string{"go.mod": "module receiver\n\ngo 1.26\n", "main.go": `package main

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
		buildCommand: []string{"go", "build", "-ldflags", "-s -w", "-o", "receiver.exe", "."}, runCommand: []string{"./receiver.exe"},
	},
	"C#": {
		fence: "csharp", tool: "mcs", file: "Webhooks.cs",
		extraFiles: map[string]string{"Program.cs": `public static class Program
{
    public static void Main(string[] args)
    {
        var body = new System.IO.MemoryStream();
        System.Console.OpenStandardInput().CopyTo(body);
        System.Console.WriteLine(Webhooks.Verify(args[0], args[1], args[2], args[3], body.ToArray()) ? "true" : "false");
    }
}
`},
		buildCommand: []string{"mcs", "-out:receiver.exe", "Webhooks.cs", "Program.cs"}, runCommand: []string{"mono", "receiver.exe"},
	},
	"PHP": {
		fence: "php", tool: "php", file: "receiver.php",
		edit: func(program string) string {
			return program + `echo verify($argv[1], $argv[2], $argv[3], $argv[4], file_get_contents('php://stdin')) ? 'true' : 'false';`
		},
		runCommand: []string{"php", "receiver.php"},
	},
	"JavaScript": {
		fence: "javascript", tool: "node", file: "receiver.js",
		edit: func(program string) string {
			return program + `
const [secret, id, timestamp, signatures] = process.argv.slice(2);
const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures };
console.log(verify(secret, headers, require('fs').readFileSync(0)));
`
		},
		runCommand: []string{"node", "receiver.js"},
	},
	"Python": {
		fence: "python", tool: "python3", file: "receiver.py",
		edit: func(program string) string {
			return program + `
import sys
secret, id, timestamp, signatures = sys.argv[1:]
headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures}
print(str(verify(secret, headers, sys.stdin.buffer.read())).lower())
`
		},
		runCommand: []string{"python3", "receiver.py"},
	},
}

// TestDocumentedReceiversVerifySignatures checks that each documented program accepts
// the sender's signatures and rejects others.
func TestDocumentedReceiversVerifySignatures(t *testing.T) {
	text, err := os.ReadFile("../../../cmd/daemon/docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			clientstest.Tool(t, e.tool)
			e.check(t, e.build(t, program(t, string(text), e.fence)))
		})
	}
}

// program returns the code block of a language.
func program(t *testing.T, text, fence string) string {
	t.Helper()
	_, after, found := strings.Cut(text, "```"+fence+"\n")
	block, _, closed := strings.Cut(after, "```\n")
	if !found || !closed {
		t.Fatalf("verify.md has no block of %s", fence)
	}
	return block
}

// build writes the files of a program to a directory and builds it.
func (e example) build(t *testing.T, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if e.edit != nil {
		program = e.edit(program)
	}
	files := map[string]string{e.file: program}
	for name, text := range e.extraFiles {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if e.buildCommand != nil {
		build := exec.Command(e.buildCommand[0], e.buildCommand[1:]...)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", e.buildCommand, err, out)
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
		{"unchanged", id, at(0), right, body, true},
		{"one of two secrets", id, at(0), by(now, other, secret), body, true},
		{"two minutes old", id, at(-2 * time.Minute), by(now.Add(-2*time.Minute), secret), body, true},
		{"another secret", id, at(0), by(now, other), body, false},
		{"another body", id, at(0), right, body + " ", false},
		{"another id", "msg_2", at(0), right, body, false},
		{"another time", id, at(time.Second), right, body, false},
		{"replayed", id, at(-time.Hour), by(now.Add(-time.Hour), secret), body, false},
		{"from the future", id, at(time.Hour), by(now.Add(time.Hour), secret), body, false},
		{"not a number", id, "yesterday", right, body, false},
		{"truncated signature", id, at(0), right[:len(right)-4], body, false},
		{"another scheme", id, at(0), "v2" + right[2:], body, false},
	} {
		run := exec.Command(e.runCommand[0], append(e.runCommand[1:len(e.runCommand):len(e.runCommand)], secret, c.id, c.timestamp, c.signatures)...)
		run.Dir, run.Stdin = dir, strings.NewReader(c.body)
		out, err := run.Output()
		if got := string(bytes.TrimSpace(out)); err != nil || got != strconv.FormatBool(c.want) {
			t.Errorf("%s: printed %q (%v), want %t", c.name, got, err, c.want)
		}
	}
}
