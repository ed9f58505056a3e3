package edge

import (
	"slices"
	"strings"
	"testing"
)

// TestFraming checks the state of the parser after requests, however their bytes arrive.
func TestFraming(t *testing.T) {
	const post = "POST / HTTP/1.1\r\n"
	for name, tt := range map[string]struct {
		sent   string
		coded  bool
		unsure bool
		size   int // of an unfinished head
		part   requestPart
	}{
		"an unfinished head":            {sent: post + "Host: x\r\n", size: 26},
		"a head without a body":         {sent: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		"bare line feeds":               {sent: "GET / HTTP/1.1\nHost: x\n\n"},
		"a body that looks like a head": {sent: post + "Content-Length: 28\r\n\r\nTransfer-Encoding: chunked\r\n"},
		"the head after a body":         {sent: post + "Content-Length: 2\r\n\r\n{}GET /", size: 5},
		"an unfinished chunk": {
			sent:  post + "Transfer-Encoding: chunked\r\n\r\n20\r\nContent",
			coded: true,
			part:  inChunks,
		},
		"a trailer": {
			sent:  post + "Transfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nContent-Length: 9\r\n",
			coded: true,
			part:  inTrailer,
		},
		"the head after a trailer": {
			sent:  post + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\nGET /",
			coded: true,
			size:  5,
		},
		"lengths of two requests": {
			sent:  post + "Content-Length: 0\r\n\r\n" + post + "transfer-encoding:chunked\r\n\r\n",
			coded: true,
			part:  inChunks,
		},
		"both headers": {
			sent:   post + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
			coded:  true,
			unsure: true,
			size:   64,
		},
		"both headers, the other way": {
			sent:   post + "TRANSFER-ENCODING: chunked\r\ncontent-length: 0\r\n",
			coded:  true,
			unsure: true,
			size:   64,
		},
		"a header over two lines": {
			sent:   post + "Content-Length:\r\n 2\r\n",
			unsure: true,
			size:   38,
		},
		"a length after many spaces": {
			sent:   post + "Content-Length:" + strings.Repeat(" ", maxKeptLine) + "2\r\n",
			unsure: true,
			size:   291,
		},
		"a long line without such a value": {
			sent: post + "X: " + strings.Repeat("x", maxKeptLine) + "\r\n",
			size: 278,
		},
	} {
		for _, step := range []int{1, 7, len(tt.sent)} {
			var f framing
			for piece := range slices.Chunk([]byte(tt.sent), step) {
				f.scan(piece)
			}
			if got := f.coded.Load(); got != tt.coded {
				t.Errorf("%s, %d bytes at a time: coded is %v, want %v", name, step, got, tt.coded)
			}
			if got := f.unsure.Load(); got != tt.unsure {
				t.Errorf("%s, %d bytes at a time: unsure is %v, want %v", name, step, got, tt.unsure)
			}
			if f.size != tt.size {
				t.Errorf("%s, %d bytes at a time: the head has %d bytes, want %d", name, step, f.size, tt.size)
			}
			if f.part != tt.part {
				t.Errorf("%s, %d bytes at a time: in part %d, want %d", name, step, f.part, tt.part)
			}
		}
	}
}
