package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tc-hib/winres"
)

// TestResourcesOfAProgram adds resources to a small program for Windows, twice with the same
// result, and reads them.
func TestResourcesOfAProgram(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var contents [2][]byte
	for i := range contents {
		file := filepath.Join(dir, "program.exe")
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", file, source)
		build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		err := addResources(file, product{name: "whd", description: "a test", text: "v1.2.3-rc.1", number: "1.2.3301"})
		if err != nil {
			t.Fatal(err)
		}
		contents[i], err = os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(contents[0], contents[1]) {
		t.Error("the resources of the same program differ")
	}

	resources, err := winres.LoadFromEXE(bytes.NewReader(contents[0]))
	if err != nil {
		t.Fatal(err)
	}
	if got := resources.Get(winres.RT_MANIFEST, winres.ID(1), american); string(got) != manifest {
		t.Errorf("the manifest is %q, want %q", got, manifest)
	}
	for _, kind := range []winres.ID{winres.RT_GROUP_ICON, winres.RT_VERSION} {
		if resources.Get(kind, winres.ID(1), american) == nil && resources.Get(kind, winres.ID(1), 0) == nil {
			t.Errorf("the program has no resource of the type %d", kind)
		}
	}
}
