package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build packs the executable of this test, which is a Go program, and returns the archive.
func build(t *testing.T, dir, name string) []byte {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, name)
	if err := run([]string{"pack", "-at", "1700000000", "-version", "v1.2.3", "-out", out, "whd=" + self, "README.md=" + text}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestArchivesAreReproducible(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"whd_1_linux_amd64.tar.gz", "whd_1_windows_amd64.zip"} {
		if first, second := build(t, dir, name), build(t, dir, name); !bytes.Equal(first, second) {
			t.Errorf("two archives %s of the same files differ", name)
		}
	}
	list, err := exec.Command("tar", "--utc", "-tvzf", filepath.Join(dir, "whd_1_linux_amd64.tar.gz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]string{0: "-rwxr-xr-x 0/0 whd_1_linux_amd64/whd", 1: "-rw-r--r-- 0/0 whd_1_linux_amd64/README.md"} {
		f := strings.Fields(strings.Split(string(list), "\n")[line])
		if got := fmt.Sprintf("%s %s %s", f[0], f[1], f[5]); got != want || f[3] != "2023-11-14" {
			t.Errorf("got %s of %s, want %s", got, f[3], want)
		}
	}
	z, err := zip.OpenReader(filepath.Join(dir, "whd_1_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if f := z.File[1]; len(z.File) != 2 || f.Name != "whd_1_windows_amd64/README.md" || f.UncompressedSize64 != 4 || f.Modified.Unix() != 1700000000 {
		t.Errorf("%d files, %+v", len(z.File), f.FileHeader)
	}
}

// Each dependency in the bill of materials must be a component.
func TestBillListsDependenciesAsComponents(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "whd_1_linux_amd64.tar.gz")
	text, err := os.ReadFile(filepath.Join(dir, "whd_1_linux_amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, c := range b.Components {
		known[c.Ref] = true
	}
	if b.Metadata.Timestamp != "2023-11-14T22:13:20Z" || len(b.Metadata.Component.Components) != 1 || len(b.Dependencies) != 1 || len(b.Components) == 0 {
		t.Fatalf("%s", text)
	}
	for _, ref := range b.Dependencies[0].DependsOn {
		if !known[ref] || !strings.HasPrefix(ref, "pkg:golang/") {
			t.Errorf("depends on %s, which is not a component", ref)
		}
	}
}

func TestSumMatchesSha256sum(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "whd_1_linux_amd64.tar.gz")
	for range 2 {
		if err := run([]string{"sum", dir}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sha256sum", "--check", "--strict", sums)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), ": OK") != 2 {
		t.Errorf("%v: %s", err, out)
	}
}
