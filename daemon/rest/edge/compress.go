package edge

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Coding is a content coding that replies can be compressed with.
type Coding struct {
	name string
	pool *sync.Pool // of compressors
}

// Compressor is what the codings' writers have in common.
type Compressor interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// codings in the order of preference. Both keep up with the encoders; zstd is
// smaller, and holds only a small window for each reply.
var codings = []Coding{
	{"zstd", &sync.Pool{New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10))
		if err != nil {
			panic(err) // a mistake in the options
		}
		return z
	}}},
	{"gzip", &sync.Pool{New: func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic(err)
		}
		return z
	}}},
}

// compressFrom is the size from which a reply is worth compressing.
const compressFrom = 1 << 10

// AcceptedCoding picks the coding that an Accept-Encoding header likes best,
// nil for none.
func AcceptedCoding(accept string) *Coding {
	var best *Coding
	quality := 0.0
	for i := range codings {
		if q := codingQuality(accept, codings[i].name); q > quality {
			best, quality = &codings[i], q
		}
	}
	return best
}

// codingQuality is what the header says of a coding by its name, else by *.
func codingQuality(accept, name string) float64 {
	quality, byName := 0.0, false
	for part := range strings.SplitSeq(accept, ",") {
		token, parameters, _ := strings.Cut(part, ";")
		token = strings.TrimSpace(token)
		switch {
		case strings.EqualFold(token, name):
			quality, byName = qualityOf(parameters), true
		case token == "*" && !byName:
			quality = qualityOf(parameters)
		}
	}
	return quality
}

// Announce notes the coding in the reply's head.
func (c *Coding) Announce(h http.Header) {
	h.Set("Content-Encoding", c.name)
	h.Add("Vary", "Accept-Encoding")
}

// whole compresses a reply that is complete.
func (c *Coding) whole(body []byte) ([]byte, error) {
	var small bytes.Buffer
	z := c.Start(&small)
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	c.Keep(z)
	return small.Bytes(), nil
}

// Start begins a compressed reply. Closing the compressor completes the reply,
// so one that was cut short is dropped without it.
func (c *Coding) Start(w io.Writer) Compressor {
	z := c.pool.Get().(Compressor)
	z.Reset(w)
	return z
}

// Keep takes a compressor back that has completed its reply.
func (c *Coding) Keep(z Compressor) {
	z.Reset(nil) // it must not hold on to the connection
	c.pool.Put(z)
}
