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

// Coding is a content coding for compressed responses.
type Coding struct {
	name string
	pool *sync.Pool // pool of Compressors
}

// Compressor is the common interface of the writers of all codings.
type Compressor interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// codings lists the codings in order of preference. Both are as fast as the
// encoders; zstd compresses better and uses a small window to save memory.
var codings = []Coding{
	{"zstd", &sync.Pool{New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10))
		if err != nil {
			panic(err) // invalid options
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

// minCompressSize is the minimum size of a compressed response.
const minCompressSize = 1 << 10

// AcceptedCoding returns the coding preferred by an Accept-Encoding header, nil for
// none.
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

// codingQuality returns the quality of a coding in the header. Of a client that
// accepts * only gzip is certain.
func codingQuality(accept, name string) float64 {
	quality := 0.0
	byName := false
	for part := range strings.SplitSeq(accept, ",") {
		token, parameters, _ := strings.Cut(part, ";")
		token = strings.TrimSpace(token)
		if strings.EqualFold(token, name) {
			quality = qualityOf(parameters)
			byName = true
		} else if token == "*" && !byName && name == "gzip" {
			quality = qualityOf(parameters)
		}
	}
	return quality
}

// Announce sets the response headers of the coding.
func (c *Coding) Announce(h http.Header) {
	h.Set("Content-Encoding", c.name)
	h.Add("Vary", "Accept-Encoding")
}

// whole compresses a complete response.
func (c *Coding) whole(parts [][]byte) ([]byte, error) {
	var small bytes.Buffer
	z := c.Start(&small)
	for _, part := range parts {
		if _, err := z.Write(part); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	c.Release(z)
	return small.Bytes(), nil
}

// Start begins a compressed response. Closing the compressor completes the response;
// an aborted response is not closed.
func (c *Coding) Start(w io.Writer) Compressor {
	z := c.pool.Get().(Compressor)
	z.Reset(w)
	return z
}

// Release returns a closed compressor to the pool.
func (c *Coding) Release(z Compressor) {
	z.Reset(nil) // drops the reference to the connection
	c.pool.Put(z)
}
