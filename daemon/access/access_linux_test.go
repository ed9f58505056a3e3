package access

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
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
		{"link to a link in a directory of another user",
			"mkdir eve; ln -s ../whd.toml eve/link; chown 65534 eve; mv conf/whd.toml .;" +
				" ln -s ../eve/link conf/whd.toml", "eve belongs to"},
		{"link to a link of root", "mv conf/whd.toml .; ln -s whd.toml link; ln -s ../link conf/whd.toml", ""},
		{"directory that is a link to a link in one of another user",
			"mkdir eve; mv conf new; ln -s ../new eve/link; chown 65534 eve; ln -s eve/link conf", "eve belongs to"},
		{"link of another user",
			"mv conf/whd.toml .; ln -s ../whd.toml conf/whd.toml; chown -h 65534 conf/whd.toml", "belongs to"},
		{"directory that is a link of another user",
			"mv conf new; ln -s new conf; chown -h 65534 conf", "conf belongs to"},
	} {
		top, err := filepath.EvalSymlinks(roottest.Dir(t))
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

// TestAccessControlList checks that an access control list counts: the group of the file can be that of root, while
// the list allows others to write.
func TestAccessControlList(t *testing.T) {
	roottest.Need(t)
	const (
		owner = 0x01
		mask  = 0x10
		all   = 0x20
	)
	for _, test := range []struct {
		name    string
		entries []uint64 // tag, rights and number
		want    string
	}{
		{"a user", []uint64{aclUser, 6, 65534}, "may change"},
		{"a group", []uint64{aclGroup, 6, 65534}, "the group"},
		{"a user that may read", []uint64{aclUser, 4, 65534}, ""},
		{"root", []uint64{aclUser, 6, 0}, ""},
	} {
		path := filepath.Join(roottest.Dir(t), "whd.toml")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		none := uint64(math.MaxUint32)
		var entries []uint64
		entries = append(entries, owner, 6, none)
		for _, tag := range []uint64{aclUser, aclOwnerGroup, aclGroup} {
			if tag == aclOwnerGroup {
				entries = append(entries, aclOwnerGroup, 4, none)
			}
			if tag == test.entries[0] {
				entries = append(entries, test.entries...)
			}
		}
		entries = append(entries, mask, 6, none, all, 0, none)

		list := binary.LittleEndian.AppendUint32(nil, 2) // the version
		for e := range slices.Chunk(entries, 3) {
			list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
			list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
			list = binary.LittleEndian.AppendUint32(list, uint32(e[2]))
		}
		err := syscall.Setxattr(path, "system.posix_acl_access", list, 0)
		if errors.Is(err, syscall.ENOTSUP) {
			t.Skip("the file system has no access control lists")
		}
		if err != nil {
			t.Fatal(err)
		}
		wantExposed(t, test.name, CheckFile(path), test.want)
	}
}

// TestAccounts checks that the owner of a data directory can be allowed.
func TestAccounts(t *testing.T) {
	roottest.Need(t)
	dir := filepath.Join(roottest.Dir(t), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	wantExposed(t, "of another user", CheckDir(dir), "belongs to")
	wantExposed(t, "of the service", CheckDir(dir, UserID(65534)), "")
}
