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

// Source is the store to back up.
type Source struct {
	Dir     string
	Files   []File
	Program string // program name and version for the manifest
}

// Write backs up a store to a file. Daemons can use the store. The backup
// gets its final name only after it was synced to disk and verified; an older
// backup of that name is replaced.
func Write(ctx context.Context, s Source, file string) (Manifest, error) {
	if err := checkReplaceable(file); err != nil {
		return Manifest{}, err
	}
	if err := s.checkComplete(); err != nil {
		return Manifest{}, err
	}
	lock, err := datadir.LockShared(s.Dir)
	if err != nil {
		return Manifest{}, err
	}
	defer lock.Release()
	tempDir, remove, err := newTempDir(filepath.Dir(file), filepath.Base(file), os.MkdirTemp)
	if err != nil {
		return Manifest{}, err
	}
	m, err := s.write(ctx, tempDir, file)
	return m, errors.Join(err, remove())
}

// checkReplaceable returns an error if the path exists and is not a backup.
func checkReplaceable(file string) error {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s exists and is not a regular file", file)
	}
	a, err := open(file)
	if err != nil {
		return fmt.Errorf("not replacing the existing file %s: %w", file, err)
	}
	return a.close()
}

// checkComplete returns an error if a required file is missing.
func (s Source) checkComplete() error {
	for _, f := range s.Files {
		_, err := os.Stat(filepath.Join(s.Dir, f.Name))
		if errors.Is(err, fs.ErrNotExist) && f.Required {
			return fmt.Errorf("no store in %s: %s is missing", s.Dir, f.Name)
		}
	}
	return nil
}

// write copies the files to a temporary directory, and packs them into the backup.
func (s Source) write(ctx context.Context, tempDir, file string) (Manifest, error) {
	m := Manifest{
		Format:  format,
		Program: s.Program,
		At:      time.Now().UTC().Truncate(time.Second),
		Unicode: unicode.Version,
	}
	for _, f := range s.Files {
		path := filepath.Join(s.Dir, f.Name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		member, err := snapshot(ctx, path, filepath.Join(tempDir, f.Name))
		if err != nil {
			if !f.Required && ctx.Err() == nil {
				err = fmt.Errorf("%w; the store works without %s:"+
					" stop all daemons, then move it and its -wal and -shm files away", err, f.Name)
			}
			return m, err
		}
		m.Members = append(m.Members, member)
	}
	temp := filepath.Join(tempDir, filepath.Base(file)+".temp")
	packAll := func(to *os.File) error { return pack(ctx, m, tempDir, to) }
	if err := writeFile(temp, packAll); err != nil {
		return m, fmt.Errorf("writing %s: %w", file, err)
	}
	if err := Verify(ctx, temp); err != nil {
		return m, fmt.Errorf("%s cannot be read back: %w", file, err)
	}
	if err := os.Rename(temp, file); err != nil {
		return m, err
	}
	return m, datadir.Sync(filepath.Dir(file))
}

// pack writes the manifest and the members.
func pack(ctx context.Context, m Manifest, dir string, file io.Writer) error {
	// One thread leaves the other cores to the daemon.
	compressed, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	if err := writeManifest(archive, m); err != nil {
		return err
	}
	for _, member := range m.Members {
		err := packMember(ctx, archive, member, filepath.Join(dir, member.Name), m.At)
		if err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func packMember(ctx context.Context, to *tar.Writer, m Member, path string, at time.Time) error {
	if err := to.WriteHeader(header(m.Name, m.Size, at)); err != nil {
		return err
	}
	_, err := copyFile(ctx, to, path)
	return err
}

// Names returns the members with their schema versions, for display.
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
