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
	name, mode, inPlace, err := destination(p.Context.String("output"))
	if err != nil {
		return nil, err
	}
	o := &Sink{name: name, inPlace: inPlace}
	if inPlace {
		o.file, err = os.OpenFile(name, os.O_WRONLY, 0)
	} else {
		o.file, err = createPart(name, mode)
	}
	if err != nil {
		return nil, err
	}
	o.Writer = bufio.NewWriterSize(partWriter{o.file, name}, bufferSize)
	return o, nil
}

// destination resolves a path to a file to be created or replaced, with its mode,
// or to a device or pipe to be written in place.
func destination(path string) (name string, mode os.FileMode, inPlace bool, err error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		return path, 0o666, false, nil
	case err != nil:
		return "", 0, false, err
	case info.IsDir():
		return "", 0, false, fmt.Errorf("%s is a directory", path)
	case info.Mode().IsRegular():
		name, err = filepath.EvalSymlinks(path)
		return name, info.Mode().Perm(), false, err
	}
	return path, 0, true, nil
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
