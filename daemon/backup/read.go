package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/bizhook/whd/daemon/datadir"
)

// archive is a backup opened for reading.
type archive struct {
	Manifest
	file  *os.File
	plain *zstd.Decoder
	tar   *tar.Reader
}

// open opens a backup and reads its manifest.
func open(path string) (*archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	plain, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	a := &archive{file: file, plain: plain, tar: tar.NewReader(plain)}
	a.Manifest, err = readManifest(a.tar)
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// maxWindow bounds the memory for decompression, in bytes.
const maxWindow = 64 << 20

func (a *archive) close() error {
	a.plain.Close()
	return a.file.Close()
}

// Verify reads a backup completely and compares it with its manifest.
func Verify(ctx context.Context, path string) error {
	a, err := open(path)
	if err != nil {
		return err
	}
	return errors.Join(a.unpack(ctx, ""), a.close())
}

// unpack writes each member to a file in dir; with an empty dir it only reads. It
// returns an error if a member differs from the manifest or the archive is
// truncated.
func (a *archive) unpack(ctx context.Context, dir string) error {
	for _, m := range a.Members {
		head, err := a.tar.Next()
		if err != nil {
			return damaged(m.Name, err)
		}
		if head.Name != m.Name || head.Size != m.Size {
			return damaged(m.Name, errors.New("found another file in its place"))
		}
		if dir == "" {
			err = a.unpackMember(ctx, m, io.Discard)
		} else {
			err = writeFile(filepath.Join(dir, m.Name), func(file *os.File) error {
				return a.unpackMember(ctx, m, file)
			})
		}
		if err != nil {
			return err
		}
	}
	head, err := a.tar.Next()
	if err == nil {
		return damaged("the end", fmt.Errorf("unexpected file %q", head.Name))
	}
	if err != io.EOF {
		return damaged("the end", err)
	}
	// The end of the zstd frame has its checksum, which the decoder verifies.
	_, err = io.Copy(io.Discard, contextReader{ctx, a.plain})
	if err != nil {
		return damaged("the end", err)
	}
	return nil
}

// unpackMember writes the current member of the archive and compares it with the manifest.
func (a *archive) unpackMember(ctx context.Context, m Member, to io.Writer) error {
	hash := sha256.New()
	member := &errorReader{from: a.tar}
	_, err := copyInto(ctx, io.MultiWriter(to, hash), member)
	if member.err != nil {
		return damaged(m.Name, member.err)
	}
	if err != nil {
		return err
	}
	if hex.EncodeToString(hash.Sum(nil)) != m.SHA256 {
		return damaged(m.Name, errors.New("checksum mismatch"))
	}
	return nil
}

// errorReader remembers read errors, to distinguish them from write errors.
type errorReader struct {
	from io.Reader
	err  error
}

func (r *errorReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// copyInto copies until the end of from or until ctx is done.
func copyInto(ctx context.Context, to io.Writer, from io.Reader) (int64, error) {
	writer := struct{ io.Writer }{to} // without ReadFrom, which would not use the buffer
	return io.CopyBuffer(writer, contextReader{ctx, from}, make([]byte, copyBuffer))
}

const copyBuffer = 1 << 20 // bytes

// damaged returns the error for damage at a part of a backup.
func damaged(part string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return fmt.Errorf("the backup is damaged: truncated at %s", part)
	}
	return fmt.Errorf("the backup is damaged at %s: %w", part, err)
}

// writeFile creates a file in a temporary directory and syncs it to disk if write succeeds.
func writeFile(path string, write func(*os.File) error) error {
	file, err := datadir.CreateNew(path)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
