// Package backup copies the database files of a running embedded store into one
// compressed file, and restores them.
package backup

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/bizhook/whd/daemon/sqlite"
)

// File is a database file of the store.
type File struct {
	Name      string
	MaxSchema int64 // latest schema version that this program supports; 0 if the file is not versioned
	Required  bool  // a store without it is incomplete

	// OnRestore changes an unpacked file before it takes the place of an existing one; nil for files
	// that are restored as they were.
	OnRestore func(*sqlite.Conn) error
}

// Manifest describes a backup. It is the first file of the backup, a tar archive
// compressed with zstd; the members follow in the manifest's order.
type Manifest struct {
	Format  int       // currently 1
	Program string    // name and version, such as "whd v1.2.0"
	At      time.Time // UTC time before the first file was read
	Unicode string    // version of the Unicode tables that order text in the indexes
	Members []Member
}

// Member is one database file.
type Member struct {
	Name   string
	Size   int64  // in bytes
	SHA256 string // hexadecimal
	Schema int64  // schema version; 0 if the file is not versioned
}

const (
	format          = 1
	manifestName    = "manifest.json"
	maxManifestSize = 1 << 20 // in bytes
)

// writeManifest writes the manifest as the first file of the archive.
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

// errNotBackup means that a file is not a backup or that its manifest is damaged.
var errNotBackup = errors.New("not a backup made by whd, or its beginning is damaged")

// readManifest reads and validates the manifest.
func readManifest(from *tar.Reader) (m Manifest, err error) {
	head, err := from.Next()
	if err != nil {
		return m, manifestError(err)
	}
	if head.Name != manifestName || head.Size > maxManifestSize {
		return m, errNotBackup
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return m, manifestError(err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format < 1 {
		return m, errNotBackup
	}
	if m.Format > format {
		return m, fmt.Errorf("unsupported backup format, written by %s; restore it with that version", m.Program)
	}
	return m, nil
}

// manifestError returns errNotBackup for a file that is not a backup, and wraps
// other read errors.
func manifestError(err error) error {
	formatErrors := []error{
		io.EOF, io.ErrUnexpectedEOF, tar.ErrHeader, zstd.ErrMagicMismatch, zstd.ErrCRCMismatch,
	}
	for _, formatErr := range formatErrors {
		if errors.Is(err, formatErr) {
			return errNotBackup
		}
	}
	return fmt.Errorf("%w (%w)", errNotBackup, err)
}
