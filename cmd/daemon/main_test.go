//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programVariable makes the test binary run whd.
const programVariable = "WHD_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestKeyOnClosedPipe checks that no key remains if its only copy is written to a pipe without a
// reader, and that the exit code shows it.
func TestKeyOnClosedPipe(t *testing.T) {
	dir := t.TempDir()
	whd := func(stdout *os.File, args ...string) (stderr string, status int) {
		cmd := exec.Command(os.Args[0], append(args, "--data-dir", dir)...)
		cmd.Env = append(os.Environ(), programVariable+"=1")
		var text strings.Builder
		cmd.Stdout = stdout
		cmd.Stderr = &text
		_ = cmd.Run() // the exit code is read below
		return text.String(), cmd.ProcessState.ExitCode()
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	reader.Close()
	stderr, status := whd(writer, "key", "create", "nightly", "--role", "reader")
	if want := "was deleted again"; status != 1 || !strings.Contains(stderr, want) {
		t.Errorf("whd key create: got exit code %d and %q, want 1 and %q", status, stderr, want)
	}
	stderr, status = whd(nil, "key", "delete", "nightly")
	if want := "no API key"; status != 1 || !strings.Contains(stderr, want) {
		t.Errorf("whd key delete: got exit code %d and %q, want 1 and %q", status, stderr, want)
	}
}

// Other users cannot read the store, which contains password hashes and business records.
func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd := exec.Command(os.Args[0], "key", "create", "nightly", "--role", "reader", "--data-dir", dir)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("whd key create: %v: %s", err, out)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("whd key create made no files")
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v, want no access for others", f.Name(), info.Mode())
		}
	}
}
