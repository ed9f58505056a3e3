package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// formats are those that Download knows, with the media type of each.
var formats = map[string]string{
	"json":   mediaJSON,
	"ndjson": mediaNDJSON,
	"csv":    "text/csv",
	"xml":    "application/xml",
	"jsv":    "text/jsv",
	"html":   "text/html",
}

// Download writes the reply to a query to w as the service sends it, in one of
// its formats: json, ndjson, csv, xml, jsv or html. It gives the number of
// bytes. Where there is no error, the reply was complete and its digest right,
// unless the notes say that it could not be verified. Errors of w are handed
// back as they are.
func (c *Client) Download(ctx context.Context, q Query, format string, w io.Writer) (int64, Notes, error) {
	media, ok := formats[format]
	if !ok {
		return 0, Notes{}, fmt.Errorf("the service has no format %s", format)
	}
	reply, err := c.send(ctx, q, format, media, true)
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

// transfer copies the body of a reply, and checks its digest.
func transfer(reply *http.Response, w io.Writer, notes *Notes) (int64, error) {
	digest := sha256.New()
	body := &source{Reader: reply.Body}
	n, err := io.Copy(io.MultiWriter(w, digest), body)
	switch {
	case body.err != nil:
		return n, cut(reply, body.err, fmt.Sprintf("incomplete reply: it broke off after %d bytes", n))
	case err != nil:
		return n, err
	}
	notes.Unverified, err = checkDigest(reply, digest.Sum(nil), n)
	return n, err
}

// source remembers whether reading failed, which distinguishes that from a failure to
// write.
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

// checkDigest compares the digest that the service sent as a header or, behind
// the last byte, as a trailer. Without either, it is unverified, or the reply is
// incomplete.
func checkDigest(reply *http.Response, sum []byte, n int64) (unverified bool, err error) {
	text := reply.Trailer.Get(wire.HeaderDigest)
	if text == "" {
		text = reply.Header.Get(wire.HeaderDigest)
	}
	hexSum, ok := strings.CutPrefix(strings.ToLower(text), "sha-256=")
	switch {
	case text == "" && unverifiable(reply, wire.HeaderDigest):
		return true, nil
	case !ok:
		return false, cut(reply, nil, fmt.Sprintf("incomplete reply: it ended after %d bytes without its digest", n))
	case hexSum != hex.EncodeToString(sum):
		return false, cut(reply, nil, "the reply does not have the digest that the service computed")
	}
	return false, nil
}
