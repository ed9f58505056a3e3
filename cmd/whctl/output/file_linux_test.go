package output

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe or a device is written, not replaced. Otherwise root could replace /dev/stdout
// by a file with a secret.
func TestReplaceFileKeepsPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0) // O_RDWR does not wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := ReplaceFile(path, []byte("new"), PrivateFile); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe was replaced: %v, %v", info, err)
	}
	text := make([]byte, 3)
	if _, err := reader.Read(text); err != nil || string(text) != "new" {
		t.Errorf("read %q, %v", text, err)
	}
}
