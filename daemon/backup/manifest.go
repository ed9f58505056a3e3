// Package backup puts the files of a store that is in use into one file, and
// brings them back.
package backup

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// File is a database file of the store.
type File struct {
	Name   string
	Newest int64 // version of its tables that this program knows; 0: they have none
	Needed bool  // without it there is no store
}

// Manifest is what a backup says of itself. It stands first in the backup, which
// is a tar archive compressed with zstd, and the members follow in its order.
type Manifest struct {
	Format  int       // 1
	Program string    // that made it, such as "whd v1.2.0"
	At      time.Time // UTC, before the first file was read
	Unicode string    // version of the tables that texts were put in order by
	Members []Member
}

// Member is one database file.
type Member struct {
	Name   string
	Size   int64  // bytes
	SHA256 string // in hexadecimal
	Schema int64  // version of its tables; 0: they have none
}

const (
	format       = 1
	manifestName = "manifest.json"
	mostManifest = 1 << 20 // bytes
)

// writeManifest puts the manifest in front of the members.
func writeManifest(to *tar.Writer, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if err := to.WriteHeader(header(manifestName, int64(len(text)), m.At)); err != nil {
		return err
	}
	_, err = to.Write(text)
	return err
}

func header(name string, size int64, at time.Time) *tar.Header {
	return &tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: at, Typeflag: tar.TypeReg}
}

// errForeign is what is wrong with a file that is not, or no more, a backup.
var errForeign = errors.New("it is no backup made by whd, or its beginning is damaged")

// readManifest reads what stands before the members.
func readManifest(from *tar.Reader) (m Manifest, err error) {
	head, err := from.Next()
	if err != nil {
		return m, noBackup(err)
	}
	if head.Name != manifestName || head.Size > mostManifest {
		return m, errForeign
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return m, noBackup(err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format < 1 {
		return m, errForeign
	}
	if m.Format > format {
		return m, fmt.Errorf("it was made by %s, in a form that this program does not know; restore it with that version", m.Program)
	}
	return m, nil
}

// noBackup tells a file that is no backup from one that the system cannot read.
func noBackup(err error) error {
	for _, foreign := range []error{io.EOF, io.ErrUnexpectedEOF, tar.ErrHeader, zstd.ErrMagicMismatch, zstd.ErrCRCMismatch} {
		if errors.Is(err, foreign) {
			return errForeign
		}
	}
	return fmt.Errorf("%w (%w)", errForeign, err)
}
