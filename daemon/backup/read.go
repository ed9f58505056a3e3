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
)

// archive is a backup that is being read.
type archive struct {
	Manifest
	file  *os.File
	plain *zstd.Decoder
	tar   *tar.Reader
}

func open(path string) (*archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	plain, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	a := &archive{file: file, plain: plain, tar: tar.NewReader(plain)}
	if a.Manifest, err = readManifest(a.tar); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// mostWindow bounds the memory that reading a backup takes.
const mostWindow = 64 << 20

func (a *archive) close() error {
	a.plain.Close()
	return a.file.Close()
}

// Verify reads a backup from its beginning to its end and compares it with what
// its manifest says.
func Verify(ctx context.Context, path string) error {
	a, err := open(path)
	if err != nil {
		return err
	}
	return errors.Join(a.unpack(ctx, ""), a.close())
}

// unpack writes each member to a file of the directory, unless that is empty. It
// fails where a member differs from what the manifest says, or the end is missing.
func (a *archive) unpack(ctx context.Context, dir string) error {
	for _, m := range a.Members {
		head, err := a.tar.Next()
		if err != nil {
			return damaged(m.Name, err)
		}
		if head.Name != m.Name || head.Size != m.Size {
			return damaged(m.Name, errors.New("another file is in its place"))
		}
		if dir == "" {
			err = a.unpackMember(ctx, m, io.Discard)
		} else {
			err = writeFile(filepath.Join(dir, m.Name), func(file *os.File) error { return a.unpackMember(ctx, m, file) })
		}
		if err != nil {
			return err
		}
	}
	switch head, err := a.tar.Next(); {
	case err == nil:
		return damaged("its end", fmt.Errorf("it has a file %q more", head.Name))
	case err != io.EOF:
		return damaged("its end", err)
	}
	if _, err := io.Copy(io.Discard, reader{ctx, a.plain}); err != nil { // the checksum of the whole
		return damaged("its end", err)
	}
	return nil
}

func (a *archive) unpackMember(ctx context.Context, m Member, to io.Writer) error {
	hash := sha256.New()
	from := &failing{from: a.tar}
	switch _, err := copyInto(ctx, io.MultiWriter(to, hash), from); {
	case from.err != nil:
		return damaged(m.Name, from.err)
	case err != nil:
		return err
	case hex.EncodeToString(hash.Sum(nil)) != m.SHA256:
		return damaged(m.Name, errors.New("its checksum is another"))
	}
	return nil
}

// failing remembers that it was reading that failed.
type failing struct {
	from io.Reader
	err  error
}

// Read is io.Reader's.
func (f *failing) Read(b []byte) (int, error) {
	n, err := f.from.Read(b)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// copyInto copies until the end of from or of ctx.
func copyInto(ctx context.Context, to io.Writer, from io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{to}, reader{ctx, from}, make([]byte, copyBuffer))
}

const copyBuffer = 1 << 20

func damaged(what string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return fmt.Errorf("the backup is damaged: it ends in the middle of %s", what)
	}
	return fmt.Errorf("the backup is damaged at %s: %w", what, err)
}

// writeFile makes a file that is on disk when write has succeeded.
func writeFile(path string, write func(*os.File) error) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
