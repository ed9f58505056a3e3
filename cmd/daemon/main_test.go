//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
