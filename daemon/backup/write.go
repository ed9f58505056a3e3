package backup

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/klauspost/compress/zstd"

	"github.com/bizhook/whd/daemon/datadir"
)

// Source is the store that is backed up.
type Source struct {
	Dir     string
	Files   []File
	Program string // for the manifest
}

// Write makes a backup of a store, which daemons may go on working with. The
// file gets its name once it is whole, on disk, and has been read back; a backup
// that had the name until then is replaced.
func Write(ctx context.Context, s Source, file string) (Manifest, error) {
	if err := replaceable(file); err != nil {
		return Manifest{}, err
	}
	if err := s.complete(); err != nil {
		return Manifest{}, err
	}
	lock, err := datadir.Share(s.Dir)
	if err != nil {
		return Manifest{}, err
	}
	defer lock.Release()
	drafts, drop, err := newDrafts(filepath.Dir(file), filepath.Base(file))
	if err != nil {
		return Manifest{}, err
	}
	m, err := s.write(ctx, drafts, file)
	return m, errors.Join(err, drop())
}

// replaceable keeps what is no backup from being replaced by one.
func replaceable(file string) error {
	switch info, err := os.Lstat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there already and is no file", file)
	}
	a, err := open(file)
	if err != nil {
		return fmt.Errorf("%s is there already and would be replaced, but %w", file, err)
	}
	return a.close()
}

func (s Source) complete() error {
	for _, f := range s.Files {
		_, err := os.Stat(filepath.Join(s.Dir, f.Name))
		if errors.Is(err, fs.ErrNotExist) && f.Needed {
			return fmt.Errorf("there is no store in %s: %s is missing", s.Dir, f.Name)
		}
	}
	return nil
}

func (s Source) write(ctx context.Context, drafts, file string) (Manifest, error) {
	m := Manifest{Format: format, Program: s.Program, At: time.Now().UTC().Truncate(time.Second), Unicode: unicode.Version}
	for _, f := range s.Files {
		from := filepath.Join(s.Dir, f.Name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		member, err := snapshot(ctx, from, filepath.Join(drafts, f.Name))
		if err != nil && !f.Needed && ctx.Err() == nil {
			err = fmt.Errorf("%w; the store works without %s: while no daemon runs, move it and its -wal and -shm away", err, f.Name)
		}
		if err != nil {
			return m, err
		}
		m.Members = append(m.Members, member)
	}
	draft := filepath.Join(drafts, filepath.Base(file)+".draft")
	if err := writeFile(draft, func(file *os.File) error { return pack(ctx, m, drafts, file) }); err != nil {
		return m, fmt.Errorf("writing %s: %w", file, err)
	}
	if err := Verify(ctx, draft); err != nil {
		return m, fmt.Errorf("%s cannot be read back: %w", file, err)
	}
	if err := os.Rename(draft, file); err != nil {
		return m, err
	}
	return m, datadir.Sync(filepath.Dir(file))
}

// pack writes the manifest and the members.
func pack(ctx context.Context, m Manifest, dir string, file io.Writer) error {
	// One thread: the daemon has other work for the others.
	small, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	archive := tar.NewWriter(small)
	err = writeManifest(archive, m)
	for _, member := range m.Members {
		if err == nil {
			err = packMember(ctx, archive, member, filepath.Join(dir, member.Name), m.At)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(archive.Close(), small.Close())
}

func packMember(ctx context.Context, to *tar.Writer, m Member, path string, at time.Time) error {
	if err := to.WriteHeader(header(m.Name, m.Size, at)); err != nil {
		return err
	}
	_, err := copyFile(ctx, to, path)
	return err
}

// Names lists the members, for people.
func (m Manifest) Names() string {
	var names []string
	for _, member := range m.Members {
		text := member.Name
		if member.Schema > 0 {
			text += fmt.Sprintf(" (version %d)", member.Schema)
		}
		names = append(names, text)
	}
	return strings.Join(names, ", ")
}
