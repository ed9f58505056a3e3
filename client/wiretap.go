package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxTapped limits the logged part of a body, in bytes.
const maxTapped = 4 << 10

// wiretap logs HTTP traffic without secrets.
type wiretap struct {
	next http.RoundTripper
	to   io.Writer
	mu   *sync.Mutex // keeps the lines of a message together
}

func newWiretap(next http.RoundTripper, to io.Writer) http.RoundTripper {
	return wiretap{next: next, to: to, mu: new(sync.Mutex)}
}

// RoundTrip logs a request and its reply, and the reply's body once it has been read.
func (w wiretap) RoundTrip(r *http.Request) (*http.Response, error) {
	var lines strings.Builder
	fmt.Fprintf(&lines, "%s %s %s\nHost: %s\n", r.Method, r.URL.RequestURI(), r.Proto, r.URL.Host)
	w.show(">", lines.String(), r.Header, bodyStart(r))
	reply, err := w.next.RoundTrip(r)
	if err != nil {
		w.show("<", "no response: "+err.Error()+"\n", nil, nil)
		return nil, err
	}
	w.show("<", reply.Proto+" "+reply.Status+"\n", reply.Header, nil)
	reply.Body = &tappedBody{ReadCloser: reply.Body, tap: w}
	return reply, nil
}

// bodyStart returns the beginning of the request's body.
func bodyStart(r *http.Request) []byte {
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	text, _ := io.ReadAll(io.LimitReader(body, maxTapped)) // cannot fail
	return text
}

// show writes lines prefixed with > or <.
func (w wiretap) show(mark, text string, header http.Header, body []byte) {
	var message strings.Builder
	message.WriteString(text)
	_ = redactHeader(header).Write(&message) // cannot fail
	if len(body) > 0 {
		fmt.Fprintf(&message, "\n%s\n", bytes.TrimRight(body, "\n"))
	}
	var marked strings.Builder
	for line := range strings.Lines(Redact(message.String())) {
		marked.WriteString(strings.TrimRight(mark+" "+line, " \r\n") + "\n")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.to, marked.String()) // a failing log must not fail the request
}

// tappedBody records the beginning of a body while it is read.
type tappedBody struct {
	io.ReadCloser
	tap   wiretap
	start []byte
	size  int64
	done  bool
}

func (b *tappedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.start = append(b.start, into[:min(n, maxTapped-len(b.start))]...)
	b.size += int64(n)
	if err != nil {
		b.finish(err)
	}
	return n, err
}

// Close also logs a partially read body.
func (b *tappedBody) Close() error {
	b.finish(nil)
	return b.ReadCloser.Close()
}

func (b *tappedBody) finish(err error) {
	if b.done {
		return
	}
	b.done = true
	text := fmt.Sprintf("(%d bytes", b.size)
	if b.size > int64(len(b.start)) {
		text = fmt.Sprintf("(%d of %d bytes", len(b.start), b.size)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		text += ", then " + err.Error()
	}
	b.tap.show("<", text+")\n", nil, b.start)
}
