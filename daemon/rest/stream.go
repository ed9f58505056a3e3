package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
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

// errHeadDone ends the work on a HEAD request whose reply would be streamed:
// its head is known.
var errHeadDone = errors.New("head is complete")

// stream sends rows as they come from the store. When the store fails after
// the first byte has gone out, the connection is aborted: no client can take a
// cut reply for a whole one.
func stream(x *edge.Context, plan *query.Plan, rows *executor.Result) error {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= keepBuffer {
			buffers.Put(buf)
		}
	}()
	out := &sender{x: x, buf: (*buf)[:0]}
	err := out.rows(plan, rows)
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

// sender writes one streamed reply.
type sender struct {
	x      *edge.Context
	buf    []byte
	digest hash.Hash
	count  int64
	sent   bool            // the head has gone out
	packed edge.Compressor // nil where the reply is not compressed
}

// rows sends the rows of a plan, with what stands before and behind them.
func (o *sender) rows(plan *query.Plan, rows *executor.Result) error {
	x := o.x
	h, sh := x.Response.Header(), shapeOf(x, plan)
	h.Set("Content-Type", x.Format.ContentType)
	if x.Format.Name == "csv" {
		h.Set("Content-Disposition", "attachment; filename="+sh.Operation+".csv")
	}
	if strings.Contains(strings.ToLower(x.Request.Header.Get("Want-Digest")), "sha-256") {
		o.digest = sha256.New()
	}
	if x.Format.Bare() {
		h.Set(wire.HeaderOffset, strconv.FormatInt(plan.Skip, 10))
	}
	o.buf = x.Format.Open(h, o.buf)
	enc := x.Format.New(sh)
	cells, err := rows.Next()
	x.Timing.FirstRow = time.Now()
	o.buf = enc.Begin(o.buf, encode.Head{Offset: plan.Skip})
	for ; err == nil && cells != nil; cells, err = rows.Next() {
		o.buf = enc.Row(o.buf, cells)
		if o.count++; len(o.buf) >= heldWhole {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	tail, err := rows.Tail(o.count)
	if err != nil {
		return err
	}
	end := encode.Tail{Total: tail.Total}
	for _, m := range tail.Meta {
		end.Meta = append(end.Meta, encode.Pair(m))
	}
	o.buf = x.Format.Close(enc.End(o.buf, end))
	return o.finish(tail)
}

func shapeOf(x *edge.Context, plan *query.Plan) encode.Shape {
	sh := encode.Shape{
		Operation: plan.Kind.Operation(),
		Record:    plan.Kind.Name,
		Columns:   make([]encode.Column, len(plan.Columns)),
		Nulls:     strings.EqualFold(x.Members.Text(query.Nulls), "include"),
	}
	for i, c := range plan.Columns {
		f := plan.Kind.Fields[c]
		sh.Columns[i] = encode.Column{Name: f.Name, Type: f.Type}
	}
	if x.HTML() {
		sh.Links, sh.View = otherFormats(x), view(x, plan)
	}
	return sh
}

// flush sends what is in the buffer, compressed where the client accepts that.
// The first flush sends the head too, with the names of the trailers that will
// follow the last byte, and pushes it through, so that the client sees that
// something comes.
func (o *sender) flush() error {
	x, first := o.x, !o.sent
	if first {
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
	o.sent = true
	if first && x.Coding != nil {
		o.packed = x.Coding.Start(x.Response)
	}
	var out io.Writer = x.Response
	if o.packed != nil {
		out = o.packed
	}
	_, err := out.Write(o.buf)
	if err == nil && first && o.packed != nil {
		if err = o.packed.Flush(); err == nil {
			err = x.Response.Control.Flush()
		}
	}
	if err == nil {
		o.buf = o.buf[:0]
	}
	return err
}

// announceTrailers names what will follow the last byte. HTTP/1.0 has no place
// for it.
func (o *sender) announceTrailers(h http.Header) {
	x := o.x
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

// finish ends the reply: held whole with a length, or streamed with trailers.
func (o *sender) finish(tail executor.Tail) (err error) {
	x := o.x
	h, streamed := x.Response.Header(), o.sent
	if streamed {
		if err = o.flush(); err == nil && o.packed != nil {
			if err = o.packed.Close(); err == nil {
				x.Coding.Keep(o.packed)
			}
		}
	} else if o.digest != nil {
		o.digest.Write(o.buf)
	}
	h.Set(wire.HeaderRowCount, strconv.FormatInt(o.count, 10))
	if x.Format.Bare() && tail.Known {
		h.Set(wire.HeaderTotal, strconv.FormatInt(tail.Total, 10))
	}
	if o.digest != nil {
		h.Set(wire.HeaderDigest, "sha-256="+hex.EncodeToString(o.digest.Sum(nil)))
	}
	if streamed {
		return err
	}
	h.Set("Server-Timing", x.Timing.Header())
	o.sent = true
	return x.Write(http.StatusOK, o.buf)
}
