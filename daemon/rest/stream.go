package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/row"
)

// heldWhole is the size up to which a reply is kept back until it is complete,
// so that it goes out with Content-Length and an error can still become a
// clean error reply. Larger ones are streamed in pieces of this size.
const heldWhole = 64 << 10

// keepBuffer is the size above which a buffer, blown up by a large cell, is
// left to the garbage collector.
const keepBuffer = 4 * heldWhole

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, heldWhole+heldWhole/4)
	return &b
}}

// stream sends rows as they come from the store. When the store fails after
// the first byte has gone out, the connection is aborted: no client can take a
// cut reply for a whole one.
func stream(x *edge.Context, sh encode.Shape, plan *query.Plan, rows *executor.Result) error {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= keepBuffer {
			buffers.Put(buf)
		}
	}()
	out := &sender{exchange: x, buf: (*buf)[:0]}
	out.start(sh)
	enc := x.Format.New(sh)
	err := out.rows(enc, encode.Head{Offset: plan.Skip}, rows)
	*buf = out.buf[:0]
	switch {
	case errors.Is(err, errHeadDone):
		x.Response.WriteHeader(http.StatusOK)
		return nil
	case err != nil && out.sent:
		abortReply(x, err)
	}
	return err
}

// errHeadDone ends the work on a HEAD request whose reply would be streamed:
// its head is known.
var errHeadDone = errors.New("head is complete")

// sender writes one streamed reply.
type sender struct {
	exchange *edge.Context
	buf      []byte
	digest   hash.Hash
	count    int64
	sent     bool            // the head has gone out
	packed   edge.Compressor // nil where the reply is not compressed
}

func (o *sender) start(sh encode.Shape) {
	x := o.exchange
	h := x.Response.Header()
	h.Set("Content-Type", x.Format.ContentType)
	if x.Format.Name == "csv" {
		h.Set("Content-Disposition", "attachment; filename="+sh.Operation+".csv")
	}
	if strings.Contains(strings.ToLower(x.Request.Header.Get("Want-Digest")), "sha-256") {
		o.digest = sha256.New()
	}
	o.buf = x.Format.Open(h, o.buf)
}

func (o *sender) rows(enc encode.Encoder, head encode.Head, rows *executor.Result) error {
	x := o.exchange
	if x.Format.Bare() {
		x.Response.Header().Set(wire.HeaderOffset, strconv.FormatInt(head.Offset, 10))
	}
	cells, err := rows.Next()
	x.Timing.FirstRow = time.Now()
	o.buf = enc.Begin(o.buf, head)
	for ; err == nil && cells != nil; cells, err = rows.Next() {
		if o.buf, err = o.row(enc, cells); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	tail, err := o.tail(enc, rows)
	if err != nil {
		return err
	}
	return o.finish(tail)
}

func (o *sender) row(enc encode.Encoder, cells []row.Cell) ([]byte, error) {
	o.buf = enc.Row(o.buf, cells)
	o.count++
	if len(o.buf) < heldWhole {
		return o.buf, nil
	}
	err := o.flush()
	return o.buf, err
}

func (o *sender) tail(enc encode.Encoder, rows *executor.Result) (executor.Tail, error) {
	tail, err := rows.Tail(o.count)
	if err != nil {
		return tail, err
	}
	end := encode.Tail{Total: tail.Total}
	for _, m := range tail.Meta {
		end.Meta = append(end.Meta, encode.Pair{Name: m.Name, Value: m.Value})
	}
	o.buf = o.exchange.Format.Close(enc.End(o.buf, end))
	return tail, nil
}

// flush sends what is in the buffer. The first flush sends the head too, with
// the names of the trailers that will follow the last byte.
func (o *sender) flush() error {
	x := o.exchange
	if !o.sent {
		h := x.Response.Header()
		h.Set("Server-Timing", x.Timing.Header())
		o.announceTrailers(h)
		if x.Coding != nil {
			x.Coding.Announce(h)
		}
	}
	if x.Request.Method == http.MethodHead {
		return errHeadDone
	}
	if o.digest != nil {
		o.digest.Write(o.buf)
	}
	first := !o.sent
	o.sent = true
	if err := o.write(first); err != nil {
		return err
	}
	o.buf = o.buf[:0]
	return nil
}

// announceTrailers names what will follow the last byte. HTTP/1.0 has no place
// for it.
func (o *sender) announceTrailers(h http.Header) {
	x := o.exchange
	if !x.Request.ProtoAtLeast(1, 1) {
		return
	}
	h.Set("Trailer", wire.HeaderRowCount)
	if x.Format.Bare() {
		h.Add("Trailer", wire.HeaderTotal)
	}
	if o.digest != nil {
		h.Add("Trailer", wire.HeaderDigest)
	}
}

// write sends the buffer, compressed where the client accepts that. The first
// piece is pushed through, so that the client sees that something comes.
func (o *sender) write(first bool) error {
	x := o.exchange
	if first && x.Coding != nil {
		o.packed = x.Coding.Start(x.Response)
	}
	if o.packed == nil {
		_, err := x.Response.Write(o.buf)
		return err
	}
	if _, err := o.packed.Write(o.buf); err != nil || !first {
		return err
	}
	if err := o.packed.Flush(); err != nil {
		return err
	}
	return x.Response.Control.Flush()
}

// end completes a streamed reply.
func (o *sender) end() error {
	if err := o.flush(); err != nil || o.packed == nil {
		return err
	}
	if err := o.packed.Close(); err != nil {
		return err
	}
	o.exchange.Coding.Keep(o.packed)
	return nil
}

// finish ends the reply: held whole with a length, or streamed with trailers.
func (o *sender) finish(tail executor.Tail) error {
	x := o.exchange
	h := x.Response.Header()
	if o.sent {
		err := o.end()
		o.counts(h, tail)
		return err
	}
	if o.digest != nil {
		o.digest.Write(o.buf)
	}
	o.counts(h, tail)
	h.Set("Server-Timing", x.Timing.Header())
	o.sent = true
	return x.Write(http.StatusOK, o.buf)
}

func (o *sender) counts(h http.Header, tail executor.Tail) {
	h.Set(wire.HeaderRowCount, strconv.FormatInt(o.count, 10))
	if o.exchange.Format.Bare() && tail.Known {
		h.Set(wire.HeaderTotal, strconv.FormatInt(tail.Total, 10))
	}
	if o.digest != nil {
		h.Set(wire.HeaderDigest, "sha-256="+hex.EncodeToString(o.digest.Sum(nil)))
	}
}
