package output

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bizhook/whd/client/display"
)

// bufferSize is how much is written at once.
const bufferSize = 256 << 10

// Sink is where data goes: standard Sink, or a file that gets its name
// only when it is complete.
type Sink struct {
	*bufio.Writer
	file    *os.File // nil for standard output
	name    string
	inPlace bool // a device or a pipe has no name to wait for
}

// Create opens the output that -o names.
func (p *Printer) Create() (*Sink, error) {
	if !toFile(p.Context) {
		w := p.Stdout
		if p.Terminal.Is {
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
	o.Writer = bufio.NewWriterSize(o.file, bufferSize)
	return o, nil
}

// destination is what a path leads to: a file that is new or is going to be
// replaced, with its mode, or something that is written in place.
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

// Finish ends the output. Where err says that the data is not complete, a file
// is taken away; on standard output stays what was written. It gives err, or
// what went wrong here.
func (o *Sink) Finish(err error) error {
	flushErr := o.Flush()
	if err == nil {
		err = flushErr
	}
	switch {
	case o.file == nil:
		return err
	case o.inPlace:
		closeErr := o.file.Close()
		if err == nil {
			err = closeErr
		}
		return err
	case err != nil:
		dropPart(o.file)
		return err
	}
	return keepPart(o.file, o.name)
}

// File is the name of the file that the output goes to, empty for standard
// output.
func (o *Sink) File() string {
	if o.file == nil {
		return ""
	}
	return o.name
}
