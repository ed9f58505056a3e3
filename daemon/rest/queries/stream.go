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

// errHeadDone stops a HEAD request when its head is complete, if the response would be streamed.
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
func stream(x *edge.Context, plan *query.Plan, rows *executor.Result, out responseWriter) error {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxPooledBuffer {
			buffers.Put(buf)
		}
	}()

	out.x = x
	out.buf = (*buf)[:0]
	out.pages = plan.Place != nil
	out.destination.Writer = x.Response
	defer out.stop() // also after a panic
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
	digest     hash.Hash       // nil unless the client requested one
	count      int64           // rows so far
	sent       bool            // the head has been sent
	compressor edge.Compressor // nil if the response is not compressed
	pages      bool            // the rows are a page by cursor
	copied     *copying        // nil unless the rows are for a copy
	meta       []Meta          // further ones

	// destination is the response, or the pipe while there is one. The compressor writes to it.
	destination struct{ io.Writer }
	space       *spill.Space // nil if a slow client may hold up the statement
	pipe        *spill.Pipe  // nil until the first bytes have been sent, and after the last ones
}

// stop ends a response that cannot be completed. It has no effect on a complete one.
func (o *responseWriter) stop() {
	if o.pipe != nil {
		o.pipe.Stop(func() { _ = o.x.Response.Control.SetWriteDeadline(time.Now()) })
		o.pipe = nil
	}
}

// rows sends the rows of a plan with the envelope around them.
func (o *responseWriter) rows(plan *query.Plan, rows *executor.Result) error {
	x := o.x
	shape := ShapeOf(x, plan)
	o.start(plan, shape)
	enc := x.Output().New(shape)
	if err := o.encodeRows(enc, plan, rows); err != nil {
		return err
	}
	tail, err := rows.Tail(o.count)
	if err != nil {
		return err
	}
	if o.copied != nil {
		if err := o.copied.finish(o, rows); err != nil {
			return err
		}
	}

	end := o.envelopeEnd(tail, shape)
	if x.Format.Bare() && len(tail.Next) > maxCursor {
		return errLongCursor
	}
	rows.Close() // before the client has read the rest
	o.buf = x.Format.Close(enc.End(o.buf, end))
	return o.finish(tail)
}

// start sets the headers that do not depend on the rows, and opens the envelope.
func (o *responseWriter) start(plan *query.Plan, shape encode.Shape) {
	x := o.x
	h := x.Response.Header()
	h.Set("Content-Type", x.Format.ContentType)
	if x.Format.Attachment {
		h.Set("Content-Disposition", "attachment; filename="+shape.Operation+x.Format.Suffix)
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
}

// encodeRows encodes all rows, and sends the buffer whenever it is full.
func (o *responseWriter) encodeRows(enc encode.Encoder, plan *query.Plan, rows *executor.Result) error {
	x := o.x
	limited, _ := enc.(encode.Limited)
	cells, err := rows.Next()
	x.Timing.FirstRow = time.Now()
	o.buf = enc.Begin(o.buf, encode.Head{Offset: plan.Skip, Cursor: followsCursor(plan)})
	for err == nil && cells != nil {
		if o.copied != nil {
			if err := o.copied.row(x.Request.Context(), cells); err != nil {
				return err
			}
		}
		o.buf = enc.Row(o.buf, cells)
		if limited != nil && limited.Err() != nil {
			return limitError(limited.Err(), rows.Position())
		}
		o.count++
		if len(o.buf) >= maxBuffered {
			if err := o.flushPiece(plan); err != nil {
				return err
			}
		}
		cells, err = rows.Next()
	}
	return err
}

// flushPiece sends a full buffer. It fails before the first one if even the conditions of the
// query alone make the cursor of the next page too long for its header.
func (o *responseWriter) flushPiece(plan *query.Plan) error {
	hasCursorHeader := o.x.Format.Bare() && o.pages && plan.Take != query.NoTake
	if hasCursorHeader && !o.sent && len(plan.Place.Next(nil)) > maxCursor {
		return errLongCursor
	}
	return o.flush()
}

// envelopeEnd returns the values after the rows.
func (o *responseWriter) envelopeEnd(tail executor.Tail, shape encode.Shape) encode.Tail {
	end := encode.Tail{Total: tail.Total}
	for _, m := range o.meta {
		end.Meta = append(end.Meta, encode.Pair(m))
	}
	for _, m := range tail.Meta {
		end.Meta = append(end.Meta, encode.Pair(m))
	}
	if tail.Next != "" {
		end.Meta = append(end.Meta, encode.Pair{Name: query.Next, Value: tail.Next})
		if shape.View != nil {
			end.NextURL = nextPage(o.x, tail.Next)
		}
	}
	if o.copied != nil {
		end.Meta = append(end.Meta, encode.Pair{Name: wire.MetaToken, Value: o.copied.token})
	}
	return end
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
	shape := encode.Shape{
		Operation: plan.Kind.Operation(),
		Record:    plan.Kind.Name,
		Columns:   make([]encode.Column, len(plan.Columns)),
		Nulls:     strings.EqualFold(x.Members.Text(query.Nulls), "include"),
		ISODates:  x.Format.ISODates(),
		CamelCase: x.Format.CamelCase(),
	}
	for i, c := range plan.Columns {
		f := plan.Kind.Fields[c]
		shape.Columns[i] = encode.Column{Name: f.Name, Type: x.Format.Type(f.Type)}
	}
	if x.HTML() {
		exports(x, plan, &shape)
		linkRows(x, plan, &shape)
		shape.View = view(x, plan)
	}
	return shape
}

// flush sends the buffer, compressed if the client accepts that. The first flush also sends the
// head with the names of the trailers.
func (o *responseWriter) flush() error {
	if o.sent {
		return o.writeBuffer()
	}
	x := o.x
	if !x.Response.Kept && x.Request.Method != http.MethodHead {
		if err := x.Response.Slot.Stream(); err != nil {
			return err
		}
	}
	h := x.Response.Header()
	h.Set("Server-Timing", x.Timing.Header())
	o.announceTrailers(h)
	if x.Coding != nil {
		x.Coding.Announce(h)
	}
	if x.Request.Method == http.MethodHead {
		return errHeadDone
	}

	o.sent = true
	if x.Coding != nil {
		o.compressor = x.Coding.Start(&o.destination)
	}
	if err := o.writeBuffer(); err != nil {
		return err
	}
	if o.compressor != nil { // the client sees progress although the compressor buffers
		if err := o.compressor.Flush(); err != nil {
			return err
		}
		if err := x.Response.Control.Flush(); err != nil {
			return err
		}
	}
	if o.space != nil {
		o.pipe = o.space.Pipe(x.Response)
		o.destination.Writer = o.pipe
	}
	return nil
}

// writeBuffer writes the buffer to the response and empties it.
func (o *responseWriter) writeBuffer() error {
	if o.digest != nil {
		o.digest.Write(o.buf)
	}
	var out io.Writer = o.destination
	if o.compressor != nil {
		out = o.compressor
	}
	if _, err := out.Write(o.buf); err != nil {
		return err
	}
	o.buf = o.buf[:0]
	return nil
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
func (o *responseWriter) finish(tail executor.Tail) error {
	x := o.x
	h := x.Response.Header()
	if o.sent {
		err := o.finishStream()
		o.setTotals(h, tail) // trailers
		return err
	}

	if o.digest != nil {
		o.digest.Write(o.buf)
	}
	o.setTotals(h, tail)
	h.Set("Server-Timing", x.Timing.Header())
	err := x.Write(http.StatusOK, o.buf)
	o.sent = x.Response.Status != 0
	return err
}

// finishStream sends the last bytes of a streamed response, and waits until the client has them.
func (o *responseWriter) finishStream() error {
	if err := o.flush(); err != nil {
		return err
	}
	if o.compressor != nil {
		if err := o.compressor.Close(); err != nil {
			return err
		}
		o.x.Coding.Release(o.compressor)
	}
	if o.pipe == nil {
		return nil
	}
	err := o.pipe.Close()
	o.pipe = nil
	return err
}

// setTotals sets the headers, or trailers, that are known after the last row.
func (o *responseWriter) setTotals(h http.Header, tail executor.Tail) {
	isBare := o.x.Format.Bare()
	h.Set(wire.HeaderRowCount, strconv.FormatInt(o.count, 10))
	if isBare && tail.Known {
		h.Set(wire.HeaderTotal, strconv.FormatInt(tail.Total, 10))
	} else if isBare && tail.TooCostly {
		h.Set(wire.HeaderTotal, wire.UnknownTotal)
	}
	if isBare && o.copied != nil {
		h.Set(wire.HeaderNextToken, o.copied.token)
	}
	if isBare && tail.Next != "" {
		h.Set(wire.HeaderNextCursor, tail.Next)
	}
	if o.digest != nil {
		h.Set(wire.HeaderDigest, "sha-256="+hex.EncodeToString(o.digest.Sum(nil)))
	}
}
