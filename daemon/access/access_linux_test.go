package access

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/roottest"
)

// TestModes checks files of root by their modes and owners, and those above them.
func TestModes(t *testing.T) {
	roottest.Need(t)
	for _, test := range []struct{ name, commands, want string }{
		{"of root", "", ""},
		{"missing", "rm conf/whd.toml", ""},
		{"readable for a group", "chgrp 65534 conf conf/whd.toml; chmod 750 conf; chmod 640 conf/whd.toml", ""},
		{"of another user", "chown 65534 conf/whd.toml", "conf/whd.toml belongs to"},
		{"writable for a group", "chgrp 65534 conf/whd.toml; chmod 660 conf/whd.toml", "the group"},
		{"writable for the group of root", "chmod 660 conf/whd.toml", ""},
		{"writable for all", "chmod 666 conf/whd.toml", "every user may change"},
		{"directory of another user", "chown 65534 conf", "conf belongs to"},
		{"directory writable for all", "chmod 1777 conf", "every user may change"},
		{"above it: all may add files", "chmod 1777 .", ""},
		{"above it: all may exchange files", "chmod 777 .", "every user may change"},
		{"link to a file of root", "mv conf/whd.toml .; ln -s ../whd.toml conf/whd.toml", ""},
		{"link to a file of another user",
			"mv conf/whd.toml .; ln -s ../whd.toml conf/whd.toml; chown 65534 whd.toml", "whd.toml belongs to"},
		{"link of another user",
			"mv conf/whd.toml .; ln -s ../whd.toml conf/whd.toml; chown -h 65534 conf/whd.toml", "belongs to"},
		{"directory that is a link of another user",
			"mv conf new; ln -s new conf; chown -h 65534 conf", "conf belongs to"},
	} {
		top, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(top, 0o755); err != nil {
			t.Fatal(err)
		}
		shell := exec.Command("sh", "-euc", "umask 022; mkdir conf; touch conf/whd.toml; "+test.commands)
		shell.Dir = top
		if text, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", test.commands, err, text)
		}
		wantExposed(t, test.name, CheckFile(filepath.Join(top, "conf", "whd.toml")), test.want)
	}
}

// TestAccounts checks that the owner of a data directory can be allowed.
func TestAccounts(t *testing.T) {
	roottest.Need(t)
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	wantExposed(t, "of another user", CheckDir(dir), "belongs to")
	wantExposed(t, "of the service", CheckDir(dir, UserID(65534)), "")
}
