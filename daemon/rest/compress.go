package rest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// coding is a content coding that replies can be compressed with.
type coding struct {
	name string
	pool *sync.Pool // of compressors
}

// compressor is what the codings' writers have in common.
type compressor interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// codings in the order of preference. Both keep up with the encoders; zstd is
// smaller, and holds only a small window for each reply.
var codings = []coding{
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

// acceptedCoding picks the coding that an Accept-Encoding header likes best,
// nil for none.
func acceptedCoding(accept string) *coding {
	var best *coding
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

// announce notes the coding in the reply's head.
func (c *coding) announce(h http.Header) {
	h.Set("Content-Encoding", c.name)
	h.Add("Vary", "Accept-Encoding")
}

// whole compresses a reply that is complete.
func (c *coding) whole(body []byte) ([]byte, error) {
	var small bytes.Buffer
	z := c.start(&small)
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	c.keep(z)
	return small.Bytes(), nil
}

// start begins a compressed reply. Closing the compressor completes the reply,
// so one that was cut short is dropped without it.
func (c *coding) start(w io.Writer) compressor {
	z := c.pool.Get().(compressor)
	z.Reset(w)
	return z
}

// keep takes a compressor back that has completed its reply.
func (c *coding) keep(z compressor) {
	z.Reset(nil) // it must not hold on to the connection
	c.pool.Put(z)
}
