package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"
)

// member is a file to pack.
type member struct {
	name    string // in the archive
	content []byte
}

// readMembers reads NAME=FILE pairs.
func readMembers(pairs []string) ([]member, error) {
	var members []member
	for _, pair := range pairs {
		name, file, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not NAME=FILE", pair)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name: name, content: content})
	}
	return members, nil
}

// mode returns the permissions of a file; those of whd and whctl are executable.
func (m member) mode() int64 {
	switch path.Base(m.name) {
	case "whd", "whctl", "whd.exe", "whctl.exe":
		return 0o755
	}
	return 0o644
}

// pack writes an archive. Its files are in a directory with the name of the archive, and have
// the time at.
func pack(out string, at time.Time, members []member) error {
	var b bytes.Buffer
	var err error
	base := path.Base(out)
	dir, isZip := strings.CutSuffix(base, ".zip")
	if isZip {
		err = packZip(&b, dir, at, members)
	} else {
		err = packTar(&b, strings.TrimSuffix(base, ".tar.gz"), at, members)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

func packZip(w io.Writer, dir string, at time.Time, members []member) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, m := range members {
		head := &zip.FileHeader{Name: dir + "/" + m.name, Method: zip.Deflate, Modified: at}
		head.SetMode(os.FileMode(m.mode()))
		f, err := z.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := f.Write(m.content); err != nil {
			return err
		}
	}
	return z.Close()
}

func packTar(w io.Writer, dir string, at time.Time, members []member) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, m := range members {
		head := &tar.Header{
			Name:    dir + "/" + m.name,
			Mode:    m.mode(),
			Size:    int64(len(m.content)),
			ModTime: at,
			Format:  tar.FormatUSTAR,
		}
		if err := t.WriteHeader(head); err != nil {
			return err
		}
		if _, err := t.Write(m.content); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}
