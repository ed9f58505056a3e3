package output

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bizhook/whd/client/display"
)

// bufferSize is the size of the write buffer in bytes. Linux copies larger writes to a file
// several times as slowly.
const bufferSize = 16 << 10

// Sink writes to standard output, or to a file that is created atomically by Finish.
type Sink struct {
	*bufio.Writer
	file    *os.File // nil for standard output
	name    string
	inPlace bool // a device or a pipe, which is not replaced
}

// Create opens the output of -o.
func (p *Printer) Create() (*Sink, error) {
	if !toFile(p.Context) {
		w := p.Stdout
		if p.Terminal.IsTerminal {
			w = &display.Writer{To: w}
		}
		return &Sink{Writer: bufio.NewWriterSize(w, bufferSize)}, nil
	}
	to, err := findDestination(p.Context.String("output"))
	if err != nil {
		return nil, err
	}
	file, err := to.open()
	if err != nil {
		return nil, err
	}
	return &Sink{
		Writer:  bufio.NewWriterSize(partWriter{file, to.path}, bufferSize),
		file:    file,
		name:    to.path,
		inPlace: to.inPlace,
	}, nil
}

// destination is a file to be created or replaced, or a device or pipe to be written in place.
type destination struct {
	path    string
	mode    os.FileMode // of a file
	inPlace bool
}

// findDestination returns the destination at a path. That of a symbolic link is its target.
func findDestination(path string) (destination, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return destination{path: path, mode: 0o666}, nil
	case err != nil:
		return destination{}, err
	case info.IsDir():
		return destination{}, fmt.Errorf("%s is a directory", path)
	case info.Mode().IsRegular():
		target, err := filepath.EvalSymlinks(path)
		return destination{path: target, mode: info.Mode().Perm()}, err
	}
	return destination{path: path, inPlace: true}, nil
}

// open opens a device or pipe, or creates the temporary file that replaces the destination.
func (d destination) open() (*os.File, error) {
	if d.inPlace {
		return os.OpenFile(d.path, os.O_WRONLY, 0)
	}
	return createPart(d.path, d.mode)
}

// Finish flushes and closes the output. If err is not nil, the data is incomplete and
// an output file is removed. Finish returns err or its own error.
func (o *Sink) Finish(err error) error {
	err = cmp.Or(err, o.Flush())
	switch {
	case o.file == nil:
		return err
	case o.inPlace:
		return cmp.Or(err, o.file.Close())
	case err != nil:
		dropPart(o.file)
		return err
	}
	return keepPart(o.file, o.name)
}

// File returns the name of the output file; empty for standard output.
func (o *Sink) File() string {
	if o.file == nil {
		return ""
	}
	return o.name
}
