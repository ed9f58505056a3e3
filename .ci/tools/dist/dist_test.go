package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packedAt is the time of the packed files, in seconds since 1970: 2023-11-14T22:13:20Z.
const packedAt = 1_700_000_000

// build packs the executable of this test, which is a Go program, and returns the archive.
func build(t *testing.T, dir, name string) []byte {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, name)
	args := []string{
		"pack", "-at", fmt.Sprint(packedAt), "-version", "v1.2.3", "-out", out,
		"whd=" + program, "README.md=" + text,
	}
	if err := run(args); err != nil {
		t.Fatalf("dist %q: %v", args, err)
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
		first := build(t, dir, name)
		second := build(t, dir, name)
		if !bytes.Equal(first, second) {
			t.Errorf("packing %s twice: the archives of %d and %d bytes differ", name, len(first), len(second))
		}
	}
}

func TestTarListsModesAndTimes(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "whd_1_linux_amd64.tar.gz")
	archive := filepath.Join(dir, "whd_1_linux_amd64.tar.gz")
	list, err := exec.Command("tar", "--utc", "-tvzf", archive).Output()
	if err != nil {
		t.Fatal(err)
	}

	// Lines of tar: mode, owner/group, size, date, time, name.
	var got []string
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		got = append(got, strings.Join([]string{f[0], f[1], f[3], f[5]}, " "))
	}
	want := []string{
		"-rwxr-xr-x 0/0 2023-11-14 whd_1_linux_amd64/whd",
		"-rw-r--r-- 0/0 2023-11-14 whd_1_linux_amd64/README.md",
	}
	if !slices.Equal(got, want) {
		t.Errorf("tar lists\n%q, want\n%q", got, want)
	}
}

func TestZipHasNamesSizesAndTimes(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "whd_1_windows_amd64.zip")
	archive, err := zip.OpenReader(filepath.Join(dir, "whd_1_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.File) != 2 {
		t.Fatalf("the archive has %d files, want 2", len(archive.File))
	}
	file := archive.File[1]
	if want := "whd_1_windows_amd64/README.md"; file.Name != want {
		t.Errorf("the second file is %s, want %s", file.Name, want)
	}
	if want := uint64(len("text")); file.UncompressedSize64 != want {
		t.Errorf("%s has %d bytes, want %d", file.Name, file.UncompressedSize64, want)
	}
	if got := file.Modified.Unix(); got != packedAt {
		t.Errorf("%s has the time %d, want %d", file.Name, got, packedAt)
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
	if want := "2023-11-14T22:13:20Z"; b.Metadata.Timestamp != want {
		t.Errorf("the timestamp is %s, want %s", b.Metadata.Timestamp, want)
	}
	programs := b.Metadata.Component.Components
	if len(programs) != 1 || len(b.Dependencies) != 1 || len(b.Components) == 0 {
		t.Fatalf("the bill has %d programs with %d dependencies and %d components, want 1, 1 and some:\n%s",
			len(programs), len(b.Dependencies), len(b.Components), text)
	}

	isComponent := make(map[string]bool)
	for _, c := range b.Components {
		isComponent[c.Ref] = true
	}
	for _, ref := range b.Dependencies[0].DependsOn {
		if !isComponent[ref] {
			t.Errorf("the program depends on %s, which is not a component", ref)
		}
		if !strings.HasPrefix(ref, "pkg:golang/") {
			t.Errorf("the program depends on %s, which is not a Go module", ref)
		}
	}
}

func TestSumMatchesSha256sum(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "whd_1_linux_amd64.tar.gz")
	for range 2 { // the second time, the sums of the first are in the directory
		if err := run([]string{"sum", dir}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sha256sum", "--check", "--strict", sums)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("sha256sum --check: %v: %s", err, out)
	}
	const files = 2 // the archive and its bill of materials
	if n := strings.Count(string(out), ": OK"); n != files {
		t.Errorf("sha256sum checked %d files, want %d: %s", n, files, out)
	}
}
