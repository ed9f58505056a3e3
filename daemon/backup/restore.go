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
)

// Target is the directory that a backup is restored into.
type Target struct {
	Dir    string
	Files  []File
	Beside []string // files that belong to the store which was there
	Force  bool     // set aside what is there
}

// Restored is what a restore did.
type Restored struct {
	Manifest
	Aside string // directory of the files that were there; empty without any
}

// Restore puts the files of a backup in their places. Before all of them are
// there, on disk and found to be sound, nothing changes; then they take their
// places together.
func Restore(ctx context.Context, t Target, file string) (Restored, error) {
	a, err := open(file)
	if err != nil {
		return Restored{}, fmt.Errorf("%s: %w", file, err)
	}
	defer a.close()
	r := Restored{Manifest: a.Manifest}
	if err := t.takes(a.Manifest); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return r, err
	}
	lock, err := datadir.Own(t.Dir)
	if err != nil {
		return r, err
	}
	defer lock.Release()
	there, err := t.present()
	if err != nil {
		return r, err
	}
	if len(there) > 0 && !t.Force {
		return r, fmt.Errorf("%s holds a store already: %s; --force sets that aside", t.Dir, strings.Join(there, ", "))
	}
	draft, drop, err := newDrafts(t.Dir, "restore")
	if err != nil {
		return r, err
	}
	defer drop()
	if err := t.prepare(ctx, a, draft); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.Aside, err = t.replace(lock, there, draft, a.Members)
	return r, err
}

// takes refuses what this program cannot work with.
func (t Target) takes(m Manifest) error {
	var room int64
	for i, member := range m.Members {
		at := slices.IndexFunc(t.Files, func(f File) bool { return f.Name == member.Name })
		twice := slices.ContainsFunc(m.Members[:i], func(before Member) bool { return before.Name == member.Name })
		if at < 0 || twice || member.Size < 0 {
			return fmt.Errorf("it has a file %q that no store has", member.Name)
		}
		if newest := t.Files[at].Newest; member.Schema > newest {
			return fmt.Errorf("%s has version %d and this program knows version %d only; restore it with %s or a later one", member.Name, member.Schema, newest, m.Program)
		}
		if member.Size > math.MaxInt64-room {
			return errors.New("its files are larger than any disk")
		}
		room += member.Size
	}
	for _, f := range t.Files {
		if f.Needed && !slices.ContainsFunc(m.Members, func(member Member) bool { return member.Name == f.Name }) {
			return fmt.Errorf("%s is missing in it", f.Name)
		}
	}
	return nil
}

// companions are what SQLite keeps beside a file.
var companions = []string{"", "-wal", "-shm", "-journal"}

// present lists the files of the store that is there.
func (t Target) present() (there []string, err error) {
	var names []string
	for _, f := range t.Files {
		for _, companion := range companions {
			names = append(names, f.Name+companion)
		}
	}
	for _, name := range append(names, t.Beside...) {
		if _, err := os.Lstat(filepath.Join(t.Dir, name)); err == nil {
			there = append(there, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return there, nil
}

// prepare unpacks the backup and looks whether its databases are sound.
func (t Target) prepare(ctx context.Context, a *archive, draft string) error {
	if err := roomFor(a.Members, draft); err != nil {
		return err
	}
	if err := a.unpack(ctx, draft); err != nil {
		return err
	}
	for _, m := range a.Members {
		schema, err := examine(ctx, filepath.Join(draft, m.Name), a.Unicode != unicode.Version)
		if err != nil {
			return damaged(m.Name, err)
		}
		if schema != m.Schema {
			return damaged(m.Name, fmt.Errorf("its tables have version %d, not %d", schema, m.Schema))
		}
	}
	return datadir.Sync(draft)
}

func roomFor(members []Member, dir string) error {
	var need int64
	for _, m := range members {
		need += m.Size
	}
	if free, err := datadir.Free(dir); err == nil && free < need {
		return fmt.Errorf("it takes %d bytes in %s, where %d are free", need, filepath.Dir(dir), free)
	}
	return nil
}

// replace sets the files that are there aside and puts the others in their
// places. Where one cannot be moved, all go back; where the process ends in
// between, a mark keeps daemons from working with half of each.
func (t Target) replace(lock *datadir.Lock, there []string, draft string, members []Member) (aside string, err error) {
	whole := !datadir.CutShort(t.Dir) // else going back is no end either
	finish, err := lock.Unfinished()
	if err != nil {
		return "", err
	}
	var done moves
	if len(there) > 0 {
		aside = filepath.Join(t.Dir, "replaced-"+time.Now().UTC().Format("20060102T150405.000Z"))
		if err = os.Mkdir(aside, 0o700); err == nil {
			err = datadir.Entrust(t.Dir, aside)
		}
	}
	for _, name := range there {
		if err == nil {
			err = done.move(filepath.Join(t.Dir, name), filepath.Join(aside, name))
		}
	}
	for _, m := range members {
		from := filepath.Join(draft, m.Name)
		if err == nil {
			err = datadir.Entrust(t.Dir, from)
		}
		if err == nil {
			err = done.move(from, filepath.Join(t.Dir, m.Name))
		}
	}
	if err != nil {
		if back := done.undo(); back != nil {
			return aside, errors.Join(err, back) // and the mark stays
		}
		if aside != "" {
			err = errors.Join(err, os.Remove(aside))
		}
		if whole {
			err = errors.Join(err, finish())
		}
		return "", err
	}
	return aside, finish()
}

// moves are renamings that can be taken back.
type moves [][2]string

func (m *moves) move(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	*m = append(*m, [2]string{from, to})
	return nil
}

func (m moves) undo() (err error) {
	for _, one := range slices.Backward(m) {
		err = errors.Join(err, os.Rename(one[1], one[0]))
	}
	return err
}
