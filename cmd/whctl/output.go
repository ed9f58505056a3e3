package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// bufferSize is how much is written at once.
const bufferSize = 256 << 10

// output is where data goes: standard output, or a file that gets its name
// only when it is complete.
type output struct {
	*bufio.Writer
	file *os.File // nil for standard output
	part string   // name of the unfinished file; empty where it is written in place
	name string
}

// create opens the output that -o names.
func (p *program) create(path string) (*output, error) {
	if path == "" || path == "-" {
		var w io.Writer = p.stdout
		if p.terminal.is {
			w = &inertWriter{to: p.stdout}
		}
		return &output{Writer: bufio.NewWriterSize(w, bufferSize)}, nil
	}
	o := &output{name: path}
	mode := os.FileMode(0o666)
	switch info, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		o.part = path + ".part"
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case info.Mode().IsRegular():
		if o.name, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
		o.part, mode = o.name+".part", info.Mode().Perm()
	default:
		o.part = "" // a device or a pipe has no name to wait for
	}
	return o, o.open(mode)
}

// open opens the file, under its unfinished name where it has one.
func (o *output) open(mode os.FileMode) (err error) {
	name := o.name
	if o.part != "" {
		name = o.part
	}
	if o.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode); err != nil {
		return err
	}
	o.Writer = bufio.NewWriterSize(o.file, bufferSize)
	return nil
}

// finish ends the output. Where err says that the data is not complete, a file
// is taken away; on standard output stays what was written. It gives err, or
// what went wrong here.
func (o *output) finish(err error) error {
	flushErr := o.Flush()
	if err == nil {
		err = flushErr
	}
	if o.file == nil {
		return err
	}
	if err == nil && o.part != "" {
		err = o.file.Sync()
	}
	if closeErr := o.file.Close(); err == nil {
		err = closeErr
	}
	if o.part == "" {
		return err
	}
	if err != nil {
		_ = os.Remove(o.part) // the first error counts
		return err
	}
	return os.Rename(o.part, o.name)
}
