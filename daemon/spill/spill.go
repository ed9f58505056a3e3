// Package spill stores the part of a response that its client has not read yet: in memory,
// and then in files. A statement thereby ends at the speed of the database server, and its
// locks do not depend on the client.
package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/datadir"
)

const (
	// responseShare is the part of the limit that one response may take: a quarter.
	responseShare = 4
	// minFree is the free space that is left on the volume, for the daemon's own store.
	minFree = 2 << 30
	// segmentSize is the size of a file. Space is taken and released by files.
	segmentSize = 16 << 20
	// MinLimit is the smallest limit under which every response can use a file.
	MinLimit = responseShare * segmentSize
	// MaxWait is the time by which a client may delay a statement in total once there is no
	// more space.
	MaxWait = time.Minute

	prefix = "response-" // of the names of files
)

// ErrFull is the error of a response that is ended because its client reads too slowly.
var ErrFull = errors.New("the client reads too slowly, and there is no more space for the rest of the response")

// errNoSpace means that no file can be added at the moment.
var errNoSpace = errors.New("no space")

// Space is the space of all responses together, in files of a directory.
type Space struct {
	dir   string
	limit int64 // bytes of all files

	// Replaced by tests.
	free    func(dir string) (int64, error)
	maxWait time.Duration

	mu      sync.Mutex
	held    int64 // bytes of all files, see Held
	aborted int64 // number of responses, see Aborted
}

// Open deletes files that a crash has left in the directory, which need not exist. Its parent is
// the data directory.
func Open(dir string, limit int64) (*Space, error) {
	if err := deleteOldFiles(dir); err != nil {
		return nil, fmt.Errorf("cannot delete old files: %w", err)
	}
	return &Space{dir: dir, limit: limit, free: datadir.FreeSpace, maxWait: MaxWait}, nil
}

// deleteOldFiles deletes files that a crash has left. It deletes the directory if another user has
// created it, which is possible if it is empty, as it usually is.
func deleteOldFiles(dir string) error {
	if datadir.CheckAccess(dir) != nil && os.Remove(dir) == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if denied := datadir.CheckAccess(dir); denied != nil {
		return denied
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// Held returns the size of all files in bytes.
func (s *Space) Held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Aborted returns the number of responses that ended with ErrFull.
func (s *Space) Aborted() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aborted
}

func (s *Space) countAborted() {
	s.mu.Lock()
	s.aborted++
	s.mu.Unlock()
}

// segment is a file with bytes from read to written. The file has no name, or is deleted
// when it is closed.
type segment struct {
	file          *os.File
	read, written int64
}

// add makes another file for a response that has a number of files.
func (s *Space) add(files int) (*segment, error) {
	if err := datadir.Mkdir(s.dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if free, err := s.free(s.dir); err != nil || free < minFree+segmentSize {
		return nil, errors.Join(errNoSpace, err)
	}
	if !s.reserve(files) {
		return nil, errNoSpace
	}
	file, err := createTemporary(s.dir, prefix+"*")
	if err != nil {
		s.release()
		return nil, err
	}
	return &segment{file: file}, nil
}

// reserve takes the space of another file for a response that has a number of files, if there is
// space.
func (s *Space) reserve(files int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isTotalFull := s.held+segmentSize > s.limit
	isShareFull := int64(files+1)*segmentSize > s.limit/responseShare
	if isTotalFull || isShareFull {
		return false
	}
	s.held += segmentSize
	return true
}

// remove deletes a file.
func (s *Space) remove(g *segment) {
	g.file.Close()
	s.release()
}

// release returns the space of a file.
func (s *Space) release() {
	s.mu.Lock()
	s.held -= segmentSize
	s.mu.Unlock()
}
