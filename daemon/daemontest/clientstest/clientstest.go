// Package clientstest finds and installs the programs of third parties that tests run:
// interpreters, compilers and client libraries. Tests that need them are run by
// `make clients`, where a missing program is a failure.
package clientstest

import (
	"embed"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"
)

// Variable is set by make clients.
const Variable = "WHD_TEST_CLIENTS"

// Wanted reports whether missing programs are failures.
func Wanted() bool { return os.Getenv(Variable) != "" }

// Tool finds a program. Where it is not installed the test is skipped, or has failed
// under make clients.
func Tool(t testing.TB, name string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err != nil && Wanted():
		t.Fatalf("make clients needs %s: %v", name, err)
	case err != nil:
		t.Skipf("%s is not installed", name)
	}
	return path
}

//go:embed testdata
var manifests embed.FS

// NodeModules installs libraries for Node.js in the versions of a lock file, and
// returns the directory that has node_modules. of is a directory of testdata, "." for
// those of most tests. It leaves the test to make clients, since that needs the network
// or npm's cache.
func NodeModules(t testing.TB, of string) (dir string) {
	t.Helper()
	if !Wanted() {
		t.Skip("make clients runs this test: it installs libraries by npm")
	}
	Tool(t, "node")
	npm := Tool(t, "npm")
	dir = t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := manifests.ReadFile(path.Join("testdata", of, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return dir
}
