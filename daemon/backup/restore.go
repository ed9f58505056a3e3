package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Target is the directory that a backup is restored into.
type Target struct {
	Dir        string
	Files      []File
	OtherFiles []string // other files that belong to an existing store
	Force      bool     // move an existing store into a subdirectory
}

// Restored is the result of a restore.
type Restored struct {
	Manifest
	ReplacedDir string // directory of the previous files; empty if there were none
}

// Restore replaces the store in a directory with the one in a backup. Nothing is
// changed until all files are unpacked, on disk and verified.
func Restore(ctx context.Context, t Target, file string) (Restored, error) {
	a, err := open(file)
	if err != nil {
		return Restored{}, fmt.Errorf("%s: %w", file, err)
	}
	defer a.close()
	r := Restored{Manifest: a.Manifest}
	if err := t.validate(a.Manifest); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.ReplacedDir, err = t.Replace("restore", func(tempDir string) error {
		if err := t.prepare(ctx, a, tempDir); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	return r, err
}

// Replace replaces the store in a directory with the files that build creates in a
// temporary directory. It keeps the directory locked while build runs. If build
// succeeds, the files are renamed into place together; if it fails, nothing is
// changed. purpose is part of the name of the temporary directory.
func (t Target) Replace(purpose string, build func(tempDir string) error) (replacedDir string, err error) {
	if err := datadir.Make(t.Dir); err != nil {
		return "", err
	}
	lock, err := datadir.LockExclusive(t.Dir)
	if err != nil {
		return "", err
	}
	defer lock.Release()
	existing, err := t.existing()
	if err != nil {
		return "", err
	}
	if len(existing) > 0 && !t.Force {
		return "", fmt.Errorf("%s already contains a store: %s; --force moves it to a subdirectory",
			t.Dir, strings.Join(existing, ", "))
	}
	tempDir, remove, err := newTempDir(t.Dir, purpose, datadir.MkdirTemp)
	if err != nil {
		return "", err
	}
	defer remove()
	if err := build(tempDir); err != nil {
		return "", err
	}
	if err := t.checkClosed(tempDir); err != nil {
		return "", err
	}
	if err := datadir.Sync(tempDir); err != nil {
		return "", err
	}
	return t.replace(lock, existing, tempDir)
}

// checkClosed returns an error if the new files are incomplete: SQLite ignores an error when it
// closes a file, such as a full disk, and leaves its write-ahead log.
func (t Target) checkClosed(tempDir string) error {
	for _, f := range t.Files {
		wal := filepath.Join(tempDir, f.Name+"-wal")
		if _, err := os.Stat(wal); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s could not be completed; the disk may be full", f.Name)
		}
	}
	return nil
}

// validate returns an error if this program cannot use the backup.
func (t Target) validate(m Manifest) error {
	files := make(map[string]File)
	for _, f := range t.Files {
		files[f.Name] = f
	}
	members := make(map[string]bool)
	var total int64
	for _, member := range m.Members {
		file, isKnown := files[member.Name]
		if !isKnown || members[member.Name] || member.Size < 0 {
			return fmt.Errorf("unexpected file %q", member.Name)
		}
		members[member.Name] = true
		if member.Schema > file.MaxSchema {
			return fmt.Errorf("%s has schema version %d, but this program supports only up to version %d;"+
				" restore with %s or later", member.Name, member.Schema, file.MaxSchema, m.Program)
		}
		if member.Size > math.MaxInt64-total {
			return errors.New("the total size of its files is too large")
		}
		total += member.Size
	}
	for _, f := range t.Files {
		if f.Required && !members[f.Name] {
			return fmt.Errorf("%s is missing from the backup", f.Name)
		}
	}
	return nil
}

// sqliteSuffixes are the suffixes of a database file and of the files that SQLite
// keeps next to it.
var sqliteSuffixes = []string{"", "-wal", "-shm", "-journal"}

// existing returns the names of the store's files in the target directory.
func (t Target) existing() (existing []string, err error) {
	var names []string
	for _, f := range t.Files {
		for _, suffix := range sqliteSuffixes {
			names = append(names, f.Name+suffix)
		}
	}
	for _, name := range append(names, t.OtherFiles...) {
		if _, err := os.Lstat(filepath.Join(t.Dir, name)); err == nil {
			existing = append(existing, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return existing, nil
}

// prepare unpacks the backup and checks the integrity of its databases.
func (t Target) prepare(ctx context.Context, a *archive, tempDir string) error {
	if err := checkFreeSpace(a.Members, tempDir); err != nil {
		return err
	}
	if err := a.unpack(ctx, tempDir); err != nil {
		return err
	}
	reindex := a.Unicode != unicode.Version
	for _, m := range a.Members {
		schema, err := checkIntegrity(ctx, filepath.Join(tempDir, m.Name), reindex)
		if err != nil {
			return damaged(m.Name, err)
		}
		if schema != m.Schema {
			return damaged(m.Name, fmt.Errorf("schema version is %d, the manifest has %d", schema, m.Schema))
		}
	}
	return t.change(ctx, tempDir)
}

// change runs OnRestore for the unpacked files that have it.
func (t Target) change(ctx context.Context, tempDir string) error {
	for _, f := range t.Files {
		if f.OnRestore == nil {
			continue
		}
		err := changeFile(ctx, filepath.Join(tempDir, f.Name), f.OnRestore)
		if err != nil {
			return fmt.Errorf("preparing %s: %w", f.Name, err)
		}
	}
	return nil
}

// changeFile changes a database file that no process uses.
func changeFile(ctx context.Context, path string, change func(*sqlite.Conn) error) error {
	conn, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	stop := conn.InterruptOn(ctx)
	err = change(conn)
	stop()
	return errors.Join(err, conn.Close())
}

// checkFreeSpace returns an error if a directory has too little space for the members.
func checkFreeSpace(members []Member, dir string) error {
	var required int64
	for _, m := range members {
		required += m.Size
	}
	if free, err := datadir.FreeSpace(dir); err == nil && free < required {
		return fmt.Errorf("not enough space in %s: %d bytes required, %d free",
			filepath.Dir(dir), required, free)
	}
	return nil
}

// replace moves the existing files to a subdirectory and the new ones into place.
// If a file cannot be moved, all moves are undone. A marker file keeps daemons from
// opening the store if the process ends in between.
func (t Target) replace(lock *datadir.Lock, existing []string, tempDir string) (replacedDir string, err error) {
	// If an earlier restore was interrupted, undoing this one does not complete it.
	wasComplete := !datadir.ReplaceInterrupted(t.Dir)
	finish, err := lock.MarkUnfinished()
	if err != nil {
		return "", err
	}
	if len(existing) > 0 {
		now := time.Now().UTC().Format("20060102T150405.000Z")
		replacedDir = filepath.Join(t.Dir, "replaced-"+now)
	}
	var done moves
	err = t.exchange(&done, existing, replacedDir, tempDir)
	if err != nil {
		if undoErr := done.undo(); undoErr != nil {
			return replacedDir, errors.Join(err, undoErr) // the marker stays
		}
		if replacedDir != "" {
			err = errors.Join(err, os.Remove(replacedDir))
		}
		if wasComplete {
			err = errors.Join(err, finish())
		}
		return "", err
	}
	return replacedDir, finish()
}

// exchange moves the existing files to replacedDir, which is empty if there are none, and the new
// ones into place.
func (t Target) exchange(done *moves, existing []string, replacedDir, tempDir string) error {
	if replacedDir != "" {
		if err := datadir.Mkdir(replacedDir); err != nil {
			return err
		}
	}
	for _, name := range existing {
		if err := done.move(filepath.Join(t.Dir, name), filepath.Join(replacedDir, name)); err != nil {
			return err
		}
	}
	for _, f := range t.Files {
		from := filepath.Join(tempDir, f.Name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue // not part of the new store
		}
		if err := done.move(from, filepath.Join(t.Dir, f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// moves records renamed files, so that they can be renamed back.
type moves []struct{ from, to string }

func (m *moves) move(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	*m = append(*m, struct{ from, to string }{from, to})
	return nil
}

func (m moves) undo() error {
	var errs []error
	for _, move := range slices.Backward(m) {
		errs = append(errs, os.Rename(move.to, move.from))
	}
	return errors.Join(errs...)
}
