package readmetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoProgramCompiles builds the program that publishes an event, with the client of this module.
func TestGoProgramCompiles(t *testing.T) {
	text, err := os.ReadFile("../../cmd/daemon/docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, hasBlock := strings.Cut(string(text), "```go\n")
	program, _, isClosed := strings.Cut(after, "```\n")
	if !hasBlock || !isClosed {
		t.Fatal("webhooks.md has no program in Go")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", os.DevNull, file)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("building the program of webhooks.md: %v\n%s", err, out)
	}
}
