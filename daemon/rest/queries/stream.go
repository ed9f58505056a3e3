package queries

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
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/spill"
)

// maxBuffered is the size up to which a response is buffered until it is complete,
// so that it has a Content-Length and can be replaced by an error response. Larger
// responses are streamed in pieces of this size.
const maxBuffered = 64 << 10

// maxPooledBuffer is the size above which buffers, enlarged by a large cell, are not
// reused.
const maxPooledBuffer = 4 * maxBuffered

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, maxBuffered+maxBuffered/4)
	return &b
}}

// errHeadDone stops a HEAD request whose response would be streamed, since its head
// is complete.
var errHeadDone = errors.New("head is complete")

// maxCursor is the maximum length of a cursor in a header or a link. Many clients and
// proxies accept 8 KiB of headers.
const maxCursor = 6 << 10

// errLongCursor is the error of a page if the next one could not be requested. Without the
// header the page would look like the last one.
var errLongCursor = &fault.Error{
	Kind:    fault.Invalid,
	Message: query.Cursor + " " + longCursor,
	Fields:  []fault.Field{{Name: query.Cursor, Message: longCursor}},
}

const longCursor = "of the next page is too long for the header " + wire.HeaderNextCursor +
	": use fewer values in the conditions, or a format that has it in Meta, such as json"

// stream sends rows as they are read from the store. If the store fails after the
// first byte was sent, the connection is aborted, so that no client mistakes an
// incomplete response for a complete one.
func stream(x *edge.Context, plan *query.Plan, rows *executor.Result, space *spill.Space, copied *copying) error {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxPooledBuffer {
			buffers.Put(buf)
		}
	}()
	out := &responseWriter{x: x, buf: (*buf)[:0], space: space, pages: plan.Place != nil, copied: copied}
	out.to.Writer = x.Response
	defer out.stop() // of a response that ends early
	err := out.rows(plan, rows)
	*buf = out.buf[:0]
	out.stop()
	if errors.Is(err, errHeadDone) {
		x.Response.WriteHeader(http.StatusOK)
		return nil
	}
	if err != nil && out.sent && !x.Response.Kept {
		edge.AbortResponse(x, err)
	}
	return err
}

// responseWriter writes one streamed response.
type responseWriter struct {
	x          *edge.Context
	buf        []byte
	digest     hash.Hash
	count      int64
	sent       bool                // the head has been sent
	compressor edge.Compressor     // nil if the response is not compressed
	to         struct{ io.Writer } // the response, later the pipe
	pages      bool                // the rows are a page by cursor
	copied     *copying            // nil unless the rows are for a copy
	space      *spill.Space        // nil if the client's speed may hold up the statement
	pipe       *spill.Pipe         // nil until the first bytes have been sent, and after the last ones
}

// stop ends a response that cannot be completed.
func (o *responseWriter) stop() {
	if o.pipe != nil {
		o.pipe.Stop(func() { _ = o.x.Response.Control.SetWriteDeadline(time.Now()) })
		o.pipe = nil
	}
}

// rows sends the rows of a plan with the envelope around them.
func (o *responseWriter) rows(plan *query.Plan, rows *executor.Result) error {
	x := o.x
	h := x.Response.Header()
	sh := ShapeOf(x, plan)
	h.Set("Content-Type", x.Format.ContentType)
	if x.Format.Attachment {
		h.Set("Content-Disposition", "attachment; filename="+sh.Operation+x.Format.Suffix)
	}
	if strings.Contains(strings.ToLower(x.Request.Header.Get("Want-Digest")), "sha-256") {
		o.digest = sha256.New()
	}
	if x.Format.Bare() {
		h.Set(wire.HeaderOffset, strconv.FormatInt(plan.Skip, 10))
	}
	if x.Format.Name == "csv" {
		h.Set(wire.HeaderFormulaGuard, strconv.FormatBool(x.GuardsFormulas()))
	}
	o.buf = x.Format.Open(h, o.buf)
	enc := x.Output().New(sh)
	limited, _ := enc.(encode.Limited)
	cells, err := rows.Next()
	x.Timing.FirstRow = time.Now()
	o.buf = enc.Begin(o.buf, encode.Head{Offset: plan.Skip, Cursor: followsCursor(plan)})
	for ; err == nil && cells != nil; cells, err = rows.Next() {
		if err := o.copied.row(o.x.Request.Context(), cells); err != nil {
			return err
		}
		o.buf = enc.Row(o.buf, cells)
		if limited != nil && limited.Err() != nil {
			return limitError(limited.Err(), rows.Position())
		}
		o.count++
		if len(o.buf) >= maxBuffered {
			hasCursorHeader := x.Format.Bare() && o.pages && plan.Take != query.NoTake
			if hasCursorHeader && !o.sent && len(plan.Place.Next(nil)) > maxCursor { // with the conditions alone
				return errLongCursor
			}
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
	if err := o.copied.finish(o, rows); err != nil {
		return err
	}
	end := encode.Tail{Total: tail.Total}
	for _, m := range tail.Meta {
		end.Meta = append(end.Meta, encode.Pair(m))
	}
	if tail.Next != "" {
		end.Meta = append(end.Meta, encode.Pair{Name: query.Next, Value: tail.Next})
		if sh.View != nil {
			end.NextURL = nextPage(x, tail.Next)
		}
	}
	if o.copied != nil {
		end.Meta = append(end.Meta, encode.Pair{Name: wire.MetaToken, Value: o.copied.token})
	}
	if x.Format.Bare() && len(tail.Next) > maxCursor {
		return errLongCursor
	}
	rows.Close() // before the client has read the rest
	o.buf = x.Format.Close(enc.End(o.buf, end))
	return o.finish(tail)
}

// limitError returns the error of a row that the format cannot have.
func limitError(err error, position string) error {
	if position != "" {
		position = " (the record with " + position + ")"
	}
	return fault.Wrap(err, fault.Invalid, "%s%s", err, position)
}

// ShapeOf returns the shape of a plan's rows in the format of the response.
func ShapeOf(x *edge.Context, plan *query.Plan) encode.Shape {
	sh := encode.Shape{
		Operation: plan.Kind.Operation(),
		Record:    plan.Kind.Name,
		Columns:   make([]encode.Column, len(plan.Columns)),
		Nulls:     strings.EqualFold(x.Members.Text(query.Nulls), "include"),
		ISODates:  x.Format.ISODates(),
		CamelCase: x.Format.CamelCase(),
	}
	for i, c := range plan.Columns {
		f := plan.Kind.Fields[c]
		sh.Columns[i] = encode.Column{Name: f.Name, Type: x.Format.Type(f.Type)}
	}
	if x.HTML() {
		sh.Links = otherFormats(x)
		sh.View = view(x, plan)
	}
	return sh
}

// flush sends the buffer, compressed if the client accepts that. The first flush
// also sends the head with the names of the trailers, and flushes the connection so
// that the client sees progress.
func (o *responseWriter) flush() error {
	x, first := o.x, !o.sent
	if first && !x.Response.Kept && x.Request.Method != http.MethodHead {
		if err := x.Response.Slot.Stream(); err != nil {
			return err
		}
	}
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
		o.compressor = x.Coding.Start(&o.to)
	}
	var out io.Writer = o.to
	if o.compressor != nil {
		out = o.compressor
	}
	_, err := out.Write(o.buf)
	if err == nil && first && o.compressor != nil {
		if err = o.compressor.Flush(); err == nil {
			err = x.Response.Control.Flush()
		}
	}
	if err == nil {
		o.buf = o.buf[:0]
	}
	if err == nil && first && o.space != nil {
		o.pipe = o.space.Pipe(x.Response)
		o.to.Writer = o.pipe
	}
	return err
}

// announceTrailers sets the names of the trailers. HTTP/1.0 has none.
func (o *responseWriter) announceTrailers(h http.Header) {
	x := o.x
	if !x.Request.ProtoAtLeast(1, 1) {
		return
	}
	h.Set("Trailer", wire.HeaderRowCount)
	if x.Format.Bare() {
		h.Add("Trailer", wire.HeaderTotal)
	}
	if o.pages && x.Format.Bare() {
		h.Add("Trailer", wire.HeaderNextCursor)
	}
	if o.copied != nil && x.Format.Bare() {
		h.Add("Trailer", wire.HeaderNextToken)
	}
	if o.digest != nil {
		h.Add("Trailer", wire.HeaderDigest)
	}
}

// finish completes the response: buffered with a length, or streamed with trailers.
func (o *responseWriter) finish(tail executor.Tail) (err error) {
	x := o.x
	h, streamed := x.Response.Header(), o.sent
	if streamed {
		if err = o.flush(); err == nil && o.compressor != nil {
			if err = o.compressor.Close(); err == nil {
				x.Coding.Release(o.compressor)
			}
		}
		if err == nil && o.pipe != nil {
			err, o.pipe = o.pipe.Close(), nil
		}
	} else if o.digest != nil {
		o.digest.Write(o.buf)
	}
	h.Set(wire.HeaderRowCount, strconv.FormatInt(o.count, 10))
	if x.Format.Bare() && tail.Known {
		h.Set(wire.HeaderTotal, strconv.FormatInt(tail.Total, 10))
	}
	if x.Format.Bare() && o.copied != nil {
		h.Set(wire.HeaderNextToken, o.copied.token)
	}
	if x.Format.Bare() && tail.Next != "" {
		h.Set(wire.HeaderNextCursor, tail.Next)
	}
	if o.digest != nil {
		h.Set(wire.HeaderDigest, "sha-256="+hex.EncodeToString(o.digest.Sum(nil)))
	}
	if streamed {
		return err
	}
	h.Set("Server-Timing", x.Timing.Header())
	err = x.Write(http.StatusOK, o.buf)
	o.sent = x.Response.Status != 0
	return err
}
