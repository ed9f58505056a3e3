package spill

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/wake"
)

// bufferSize is the size of each of a pipe's two buffers.
const bufferSize = 128 << 10

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, bufferSize)
	return &b
}}

// emptyBuffer returns a buffer without the bytes of its last use.
func emptyBuffer() *[]byte {
	b := buffers.Get().(*[]byte)
	*b = (*b)[:0]
	return b
}

// errStopped is the error of a pipe after Stop.
var errStopped = errors.New("the response was stopped")

// Pipe passes bytes on to a client, which may read them later. Write, Close and Stop are
// called by one goroutine.
type Pipe struct {
	space *Space
	out   io.Writer
	more  chan struct{} // has a value if there may be bytes to send
	room  chan struct{} // has a value if the client has read something
	done  chan struct{} // closed when nothing is sent anymore

	mu       sync.Mutex
	segments []*segment    // the oldest bytes first; older than pending
	pending  *[]byte       // the latest bytes
	waited   time.Duration // how long Write has waited for the client, since there was no space
	closed   bool          // no more bytes follow
	err      error         // why nothing is sent anymore
}

// Pipe returns a pipe to out. Close or Stop must be called.
func (s *Space) Pipe(out io.Writer) *Pipe {
	p := &Pipe{
		space:   s,
		out:     out,
		more:    make(chan struct{}, 1),
		room:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		pending: emptyBuffer(),
	}
	go p.send()
	return p
}

// Write takes bytes without waiting for the client as long as there is space for them.
func (p *Pipe) Write(b []byte) (taken int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.err == nil && taken < len(b) {
		if len(*p.pending) == bufferSize {
			p.makeRoom()
			continue
		}
		n := min(len(b)-taken, bufferSize-len(*p.pending))
		*p.pending = append(*p.pending, b[taken:taken+n]...)
		taken += n
		wake.Signal(p.more)
	}
	return taken, p.err
}

// makeRoom moves the pending bytes to a file. Where there is no space it waits until the
// client has read something, but not longer than maxWait for all of the response. The lock is held,
// except while it waits.
func (p *Pipe) makeRoom() {
	if p.spill() == nil {
		return
	}
	start := time.Now()
	timer := time.NewTimer(p.space.maxWait - p.waited)
	defer timer.Stop()

	p.mu.Unlock() // while it waits, send takes bytes
	expired := false
	select {
	case <-p.room:
	case <-timer.C:
		expired = true
	}
	p.mu.Lock()
	p.waited += time.Since(start)
	if expired && p.err == nil {
		p.err = ErrFull
		p.space.countAborted()
	}
}

// spill moves the pending bytes to the end of the last file, or to a new one.
func (p *Pipe) spill() error {
	var last *segment
	if n := len(p.segments); n > 0 {
		last = p.segments[n-1]
	}
	if last == nil || last.written+bufferSize > segmentSize {
		var err error
		last, err = p.space.add(len(p.segments))
		if err != nil {
			return err
		}
		p.segments = append(p.segments, last)
	}
	if _, err := last.file.WriteAt(*p.pending, last.written); err != nil {
		return err // the next attempt overwrites a part that was written
	}
	last.written += int64(len(*p.pending))
	*p.pending = (*p.pending)[:0]
	wake.Signal(p.more)
	return nil
}

// send passes the bytes on to the client.
func (p *Pipe) send() {
	defer close(p.done)
	buffer := emptyBuffer()
	defer func() { buffers.Put(buffer) }()
	for {
		next, err := p.take(buffer)
		if next == nil || err != nil {
			p.fail(err)
			return
		}
		buffer = next
		if len(*buffer) == 0 {
			<-p.more
		} else if _, err := p.out.Write(*buffer); err != nil {
			p.fail(err)
			return
		}
	}
}

// take returns a buffer with the oldest bytes in exchange for another one: empty if there
// are none yet, nil after the last one.
func (p *Pipe) take(buffer *[]byte) (*[]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, nil
	}
	*buffer = (*buffer)[:0]
	defer wake.Signal(p.room)
	for len(p.segments) > 0 {
		oldest := p.segments[0]
		if n := min(bufferSize, oldest.written-oldest.read); n > 0 {
			*buffer = (*buffer)[:n]
			_, err := oldest.file.ReadAt(*buffer, oldest.read)
			oldest.read += n
			return buffer, err
		}
		p.space.remove(oldest)
		p.segments = p.segments[1:]
	}
	if len(*p.pending) == 0 && p.closed {
		return nil, nil
	}
	p.pending, buffer = buffer, p.pending
	return buffer, nil
}

// fail ends the pipe, with an error unless everything was sent.
func (p *Pipe) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	wake.Signal(p.room)
}

// Close waits until the client has read everything.
func (p *Pipe) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	wake.Signal(p.more)
	<-p.done
	return p.end()
}

// Stop discards the bytes that the client has not read. interrupt makes the current write to the
// client fail; it is called until that has ended.
func (p *Pipe) Stop(interrupt func()) {
	p.mu.Lock()
	if p.err == nil {
		p.err = errStopped
	}
	p.mu.Unlock()
	for {
		wake.Signal(p.more)
		interrupt()
		select {
		case <-p.done:
			_ = p.end()
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// end releases the pipe's space after nothing is sent anymore.
func (p *Pipe) end() error {
	for _, g := range p.segments {
		p.space.remove(g)
	}
	p.segments = nil
	if p.pending != nil {
		buffers.Put(p.pending)
		p.pending = nil
	}
	return p.err
}
