package edge

import (
	"bytes"
	"strconv"
	"sync/atomic"
)

// framing finds the ends of the requests in the bytes that arrive on a connection, and requests
// of which the end is ambiguous. Only the two flags may be read by other goroutines than the one
// that reads from the connection.
type framing struct {
	coded  atomic.Bool // a request had Transfer-Encoding
	unsure atomic.Bool // a request had Content-Length as well, or a header that may hide one of them

	part requestPart
	size int    // bytes of the head so far
	line []byte // the start of the line being read
	skip int64  // remaining bytes of a body or of a chunk

	// The headers of the head so far.
	sized   bool // with Content-Length
	length  int64
	chunked bool
}

// requestPart is the part of a request that a line belongs to.
type requestPart int

const (
	inHead requestPart = iota
	inChunks
	inTrailer
)

// maxKeptLine limits the memory that a connection uses for a line.
const maxKeptLine = 256

// scan parses the bytes that have arrived.
func (f *framing) scan(b []byte) {
	for len(b) > 0 {
		if f.skip > 0 {
			n := min(f.skip, int64(len(b)))
			f.skip -= n
			b = b[n:]
			continue
		}

		line, after, ended := bytes.Cut(b, []byte("\n"))
		if f.part == inHead {
			f.size += len(b) - len(after)
		}
		b = after

		room := maxKeptLine - len(f.line)
		f.line = append(f.line, line[:min(len(line), room)]...)
		if ended {
			f.parse(bytes.TrimSuffix(f.line, []byte("\r")))
			f.line = f.line[:0]
		}
	}
}

// parse parses a line. Invalid numbers and heads are left to net/http, which rejects them.
func (f *framing) parse(line []byte) {
	switch f.part {
	case inHead:
		f.parseHead(line)
	case inChunks:
		f.parseChunkSize(line)
	case inTrailer:
		f.parseTrailer(line)
	}
}

// parseHead parses a request line or a header.
func (f *framing) parseHead(line []byte) {
	if len(line) == 0 {
		f.endHead()
		return
	}

	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		f.chunked = true
		f.coded.Store(true)
	case bytes.EqualFold(name, []byte("Content-Length")):
		f.sized = true
		f.length, _ = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		if len(line) == maxKeptLine { // the number may continue, after spaces or zeros
			f.unsure.Store(true)
		}
	case line[0] == ' ' || line[0] == '\t': // it continues the previous header
		f.unsure.Store(true)
	}
	if f.sized && f.chunked {
		f.unsure.Store(true)
	}
}

// endHead goes on to the body after the empty line that ends a head. Without a body the next head
// follows.
func (f *framing) endHead() {
	if f.chunked {
		f.part = inChunks
	} else {
		f.skip = f.length
	}
	f.size = 0
	f.sized = false
	f.length = 0
	f.chunked = false
}

// parseChunkSize parses the line before a chunk. The last chunk is empty, and the trailer follows.
func (f *framing) parseChunkSize(line []byte) {
	size, _, _ := bytes.Cut(line, []byte(";"))
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64)
	if n == 0 {
		f.part = inTrailer
		return
	}
	f.skip = n + int64(len("\r\n"))
}

// parseTrailer parses a header after the last chunk. net/http does not use them for the framing.
func (f *framing) parseTrailer(line []byte) {
	if len(line) == 0 {
		f.part = inHead
	}
}
