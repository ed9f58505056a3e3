package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// formats has the formats of Download with their media types.
var formats = []struct{ name, media string }{
	{"json", mediaJSON},
	{"csv", mediaCSV},
	{"xml", "application/xml"},
	{"jsv", "text/jsv"},
	{"html", "text/html"},
	{"ndjson", mediaNDJSON},
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
}

// Formats returns the names of the service's formats, json first.
func Formats() (names []string) {
	return record.Texts(formats, func(f struct{ name, media string }) string { return f.name })
}

// Download copies the reply to a query to w in one of Formats. It returns the number of
// bytes. Without an error, the reply is complete and its digest correct, unless
// Notes.Unverified is set. Errors of w are returned unchanged.
func (c *Client) Download(ctx context.Context, q Query, format string, w io.Writer) (int64, Notes, error) {
	i := slices.Index(Formats(), format)
	if i < 0 {
		return 0, Notes{}, fmt.Errorf("unknown format %s", format)
	}
	media := formats[i].media
	reply, err := c.sendQuery(ctx, q, format, media, headerField{"Want-Digest", "sha-256"})
	if err != nil {
		return 0, Notes{}, err
	}
	defer reply.Body.Close()
	if err := expect(reply, media); err != nil {
		return 0, Notes{}, err
	}
	notes := notesOf(reply)
	n, err := transfer(reply, w, &notes)
	return n, notes, err
}

// transfer copies the body of a reply and verifies its digest.
func transfer(reply *http.Response, w io.Writer, notes *Notes) (int64, error) {
	digest := sha256.New()
	body := &source{Reader: reply.Body}
	n, err := io.Copy(io.MultiWriter(w, digest), body)
	if body.err != nil {
		return n, truncated(reply, body.err, fmt.Sprintf("incomplete response: aborted after %d bytes", n))
	}
	if err != nil {
		return n, err
	}
	notes.Unverified, err = checkDigest(reply, digest.Sum(nil), n)
	return n, err
}

// source records read errors, to distinguish them from write errors.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// checkDigest compares the digest that the service sends as a header or trailer. Without
// either, the reply is unverified or incomplete.
func checkDigest(reply *http.Response, sum []byte, n int64) (unverified bool, err error) {
	text := endHeader(reply, wire.HeaderDigest)
	hexSum, ok := strings.CutPrefix(strings.ToLower(text), "sha-256=")
	switch {
	case text == "" && unverifiable(reply, wire.HeaderDigest):
		return true, nil
	case !ok:
		message := fmt.Sprintf("incomplete response: ended after %d bytes without a digest", n)
		return false, truncated(reply, nil, message)
	case hexSum != hex.EncodeToString(sum):
		return false, truncated(reply, nil, "the response does not have the digest that the service computed")
	}
	return false, nil
}
