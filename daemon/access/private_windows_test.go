package access

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
)

// TestMakePrivateDir creates directories, and restricts them again with content.
func TestMakePrivateDir(t *testing.T) {
	const account = "S-1-5-80-1-2-3-4-5"
	dir := filepath.Join(t.TempDir(), "above", "whd")
	for range 2 {
		if err := MakePrivateDir(dir, account); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "whd.toml")
		if err := os.WriteFile(path, []byte("demo = true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := MakePrivateFile(path, account); err != nil {
			t.Fatal(err)
		}
		if err := CheckFile(path, account); err != nil {
			t.Error(err)
		}
		if err := CheckDir(dir, account); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "whd.toml")} {
		o, err := objectAt(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", o)
	}
}

// TestJunction checks that the directory is not made behind a junction.
func TestJunction(t *testing.T) {
	top := t.TempDir()
	target, dir := filepath.Join(top, "target"), filepath.Join(top, "whd")
	if err := os.Mkdir(target, 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("cmd", "/c", "mklink", "/J", dir, target).CombinedOutput()
	if err != nil {
		t.Skipf("mklink: %v: %s", err, text)
	}
	if _, err := os.Lstat(dir); err != nil {
		t.Skipf("this system does not make junctions: %v", err)
	}
	if err := MakePrivateDir(dir, "S-1-5-80-1-2-3-4-5"); !errors.Is(err, ErrExposed) {
		t.Errorf("a junction in place of the directory: got the error %v, want ErrExposed", err)
	}
}

// TestHardLink checks that the permissions of a file with another name are not changed.
func TestHardLink(t *testing.T) {
	top := t.TempDir()
	target, path := filepath.Join(top, "target"), filepath.Join(top, "whd.toml")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(target, path); err != nil {
		t.Skip(err)
	}
	if err := MakePrivateFile(path, "S-1-5-80-1-2-3-4-5"); !errors.Is(err, ErrExposed) {
		t.Errorf("a second name of a file: got the error %v, want ErrExposed", err)
	}
}

// TestDescriptors checks that Windows accepts the lists.
func TestDescriptors(t *testing.T) {
	for _, list := range []string{privateDir, privateFile, dirFor("S-1-5-80-1-2-3-4-5")} {
		descriptor, err := windows.SecurityDescriptorFromString("O:BA" + list)
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		acl, _, err := descriptor.DACL()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := entriesOf(acl)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", list, entries)
		o := Object{Owner: Account{ID: administrators}, Grants: grantsOf(entries, true, nameOf)}
		isTrusted, err := trusting([]string{"S-1-5-80-1-2-3-4-5"})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.check(anyChange, isTrusted); err != nil {
			t.Errorf("%s: %v", list, err)
		}
	}
}
