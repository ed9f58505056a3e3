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
		t.Fatalf("the pipe is now %v, %v; want a pipe", info, err)
	}
	text := make([]byte, 3)
	if _, err := reader.Read(text); err != nil || string(text) != "new" {
		t.Errorf("reading the pipe: got %q, error %v; want new", text, err)
	}
}

// TestErrorsNameFile checks that errors of the temporary file name the file that it should have
// replaced.
func TestErrorsNameFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "totals.csv")

	missing := filepath.Join(dir, "gone", "totals.csv")
	_, err := createPart(missing, PrivateFile)
	wantError(t, err, "open "+missing+": no such file or directory")

	part, err := createPart(path, PrivateFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(part.Name()); err != nil {
		t.Fatal(err)
	}
	wantError(t, keepPart(part, path), "rename "+path+": no such file or directory")

	if err := os.Symlink("/dev/full", part.Name()); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile(part.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	_, err = partWriter{full, path}.Write([]byte("x"))
	wantError(t, err, "write "+path+": no space left on device")
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
