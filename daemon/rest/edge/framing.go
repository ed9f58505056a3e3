package edge

import (
	"bytes"
	"strconv"
)

// framedPart is the part of the request that the next line belongs to.
type framedPart int

const (
	head framedPart = iota
	chunks
	trailer
)

// maxKeptLine limits the memory that a connection uses for a line.
const maxKeptLine = 256

// scan parses the framing of the bytes that have arrived.
func (c *framed) scan(b []byte) {
	for rest := b; len(rest) > 0; {
		if c.skip > 0 {
			over := min(c.skip, int64(len(rest)))
			c.skip, rest = c.skip-over, rest[over:]
			continue
		}
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if c.part == head {
			c.size += len(rest) - len(after)
		}
		c.line, rest = append(c.line, line[:min(len(line), maxKeptLine-len(c.line))]...), after
		if ended {
			c.parse(bytes.TrimSuffix(c.line, []byte("\r")))
			c.line = c.line[:0]
		}
	}
}

// parse processes a line. Invalid numbers and heads are left to net/http, which
// rejects them.
func (c *framed) parse(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	hidden := false
	switch {
	case c.part == chunks:
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, _ := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64)
		if c.skip = n + int64(len("\r\n")); n == 0 {
			c.skip, c.part = 0, trailer
		}
	case len(line) == 0:
		c.size = 0
		c.skip, c.part = c.length, head
		if c.chunked {
			c.skip, c.part = 0, chunks
		}
		c.sized, c.chunked, c.length = false, false, 0
	case c.part == trailer:
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		c.chunked = true
		c.coded.Store(true)
	case bytes.EqualFold(name, []byte("Content-Length")):
		c.sized = true
		c.length, _ = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		hidden = len(line) == maxKeptLine // after spaces or zeros
	case line[0] == ' ', line[0] == '\t':
		hidden = true
	}
	if hidden || c.sized && c.chunked {
		c.unsure.Store(true)
	}
}
