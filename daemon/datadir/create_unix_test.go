//go:build unix

package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCreate checks that only the owner may use new files and directories.
func TestCreate(t *testing.T) {
	closed := func(file *os.File, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return file.Name(), file.Close()
	}
	for name, test := range map[string]struct {
		create func(path string) (created string, err error)
		mode   fs.FileMode
	}{
		"Make": {
			create: func(path string) (string, error) { return path, Make(path) },
			mode:   fs.ModeDir | 0o700,
		},
		"Mkdir": {
			create: func(path string) (string, error) { return path, Mkdir(path) },
			mode:   fs.ModeDir | 0o700,
		},
		"MkdirTemp": {
			create: func(path string) (string, error) {
				return MkdirTemp(filepath.Dir(path), "new-*")
			},
			mode: fs.ModeDir | 0o700,
		},
		"Create": {
			create: func(path string) (string, error) { return path, Create(path) },
			mode:   0o600,
		},
		"CreateNew": {
			create: func(path string) (string, error) { return closed(CreateNew(path)) },
			mode:   0o600,
		},
		"CreateTemp": {
			create: func(path string) (string, error) {
				return closed(CreateTemp(filepath.Dir(path), "new-*"))
			},
			mode: 0o600,
		},
	} {
		t.Run(name, func(t *testing.T) {
			created, err := test.create(filepath.Join(t.TempDir(), "new"))
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(created)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != test.mode {
				t.Errorf("%s created %s with the mode %s, want %s", name, created, info.Mode(), test.mode)
			}
			if err := CheckAccess(created); err != nil {
				t.Errorf("CheckAccess of the new %s: %v", created, err)
			}

			missing := filepath.Join(t.TempDir(), "missing", "new")
			if created, err := test.create(missing); name != "Make" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s in a missing directory: got %q, %v, want ErrNotExist", name, created, err)
			}
		})
	}
}

// TestCreateExisting checks which functions accept a path that exists, and that its content stays.
func TestCreateExisting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	if err := os.WriteFile(path, []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Create(path); err != nil {
		t.Errorf("Create of a file that exists: %v", err)
	}
	if _, err := CreateNew(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("CreateNew of a file that exists: got %v, want ErrExist", err)
	}
	if err := Mkdir(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Mkdir of a path that exists: got %v, want ErrExist", err)
	}
	text, err := os.ReadFile(path)
	if string(text) != "rows" {
		t.Errorf("the file has %q (%v) afterwards, want its rows", text, err)
	}
}

// TestMayUse checks which files the owner of a data directory may read and write.
func TestMayUse(t *testing.T) {
	const (
		root     = 0
		service  = 120
		stranger = 1000
	)
	for name, test := range map[string]struct {
		dir, file syscall.Stat_t
		want      bool
	}{
		"a directory of root": {
			dir:  syscall.Stat_t{Uid: root, Gid: root},
			file: syscall.Stat_t{Uid: stranger, Gid: stranger, Mode: 0o600},
			want: true,
		},
		"a file of the owner": {
			dir:  syscall.Stat_t{Uid: service, Gid: service},
			file: syscall.Stat_t{Uid: service, Gid: stranger, Mode: 0o600},
			want: true,
		},
		"a read-only file of the owner": {
			dir:  syscall.Stat_t{Uid: service, Gid: service},
			file: syscall.Stat_t{Uid: service, Gid: service, Mode: 0o466},
		},
		"a file of root": {
			dir:  syscall.Stat_t{Uid: service, Gid: service},
			file: syscall.Stat_t{Uid: root, Gid: root, Mode: 0o600},
		},
		"a file of root for the group": {
			dir:  syscall.Stat_t{Uid: service, Gid: service},
			file: syscall.Stat_t{Uid: root, Gid: service, Mode: 0o660},
			want: true,
		},
		"a file that the group may only read": {
			dir:  syscall.Stat_t{Uid: service, Gid: service},
			file: syscall.Stat_t{Uid: root, Gid: service, Mode: 0o646},
		},
		"a file for all users": {
			dir:  syscall.Stat_t{Uid: service, Gid: service},
			file: syscall.Stat_t{Uid: stranger, Gid: stranger, Mode: 0o606},
			want: true,
		},
		"a link": {
			dir:  syscall.Stat_t{Uid: service, Gid: service},
			file: syscall.Stat_t{Uid: root, Gid: root, Mode: syscall.S_IFLNK | 0o777},
			want: true,
		},
	} {
		if got := mayUse(test.dir, test.file); got != test.want {
			t.Errorf("%s: mayUse returned %t, want %t", name, got, test.want)
		}
	}
}

// TestCheckOwnersOfOwnFiles checks that files of this process are no problem, and that a directory
// that is missing is an error.
func TestCheckOwnersOfOwnFiles(t *testing.T) {
	dir := t.TempDir()
	if err := Create(filepath.Join(dir, "app.db")); err != nil {
		t.Fatal(err)
	}
	problems, err := CheckOwners(dir)
	if err != nil || len(problems) > 0 {
		t.Errorf("CheckOwners of new files: got %v, %v, want none", problems, err)
	}
	_, err = CheckOwners(filepath.Join(dir, "missing"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("CheckOwners of a missing directory: got %v, want ErrNotExist", err)
	}
}
