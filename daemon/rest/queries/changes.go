package queries

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/row"
)

// Feed has the changes of record kinds.
type Feed interface {
	// Now returns the token of the present. It fails with a fault of kind Unavailable until
	// the first look at the kind has ended.
	Now(ctx context.Context, kind *record.Kind) (token string, err error)
	// Read returns up to take changes since a token. Without changes it waits for the first
	// one, at most for the time wait.
	Read(ctx context.Context, kind *record.Kind, since string, take int, wait time.Duration) (*changes.Batch, error)
	// LookedAt returns the time of the last look at a kind: later changes are not known. It is
	// zero if there was none.
	LookedAt(ctx context.Context, kind *record.Kind) (time.Time, error)
	// Fields returns the indexes of the kind's key, and of its captured fields.
	Fields(ctx context.Context, kind *record.Kind) (key, captured []int, err error)
	// Copy starts a copy that continues with the changes since the token.
	Copy(ctx context.Context, kind *record.Kind, token string) (Copy, error)
}

// Copy compares the rows that are given out for a copy with the known ones.
type Copy interface {
	// Row compares a row, with all fields of the kind in their order.
	Row(ctx context.Context, cells []row.Cell) error
	// End waits until the rows that differed have been read again. Together with the
	// changes up to the token, the rows are an exact copy.
	End(ctx context.Context) (token string, err error)
}

// The members of a request for changes.
const (
	MemberTake = "Take"
	MemberWait = "Wait"
)

// ChangeFormats are the formats of changes, and of the rows of copies.
var ChangeFormats = []string{"json", "ndjson"}

// Limits of a request for changes.
const (
	MaxChanges = 1000
	MaxWait    = 60 // seconds
)

// Changes returns the changes of a kind since a token, or the token of the present.
func (h *Handler) Changes(x *edge.Context) error {
	kind, err := KindOf(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(edge.ParamKind)
	since := form.Or(form.Value(f, MemberSince, form.Text), "")
	take := form.Or(form.Value(f, MemberTake, between(1, MaxChanges)), MaxChanges)
	wait := time.Duration(form.Or(form.Value(f, MemberWait, between(0, MaxWait)), 0)) * time.Second
	if err := f.Done(x); err != nil {
		return err
	}
	feed, err := h.captured(x, kind)
	if err != nil {
		return err
	}
	if x.Route.Oneway {
		return x.NoContent(nil)
	}

	turn, err := h.turns.take(x)
	if err != nil {
		return err
	}
	defer func() { turn.end(x.Response.Bytes) }()
	batch, err := read(x, feed, kind, since, take)
	if err != nil {
		return err
	}
	if since != "" && wait > 0 && len(batch.Changes) == 0 {
		turn.end(0) // other requests have it while this one waits
		if err := h.await(x, feed, kind, batch.Next, wait); err != nil {
			return err
		}
		if err := h.stillMayRead(x, kind); err != nil {
			return err
		}
		turn, err = h.turns.take(x)
		if err != nil {
			return err
		}
		batch, err = read(x, feed, kind, batch.Next, take)
		if err != nil {
			return err
		}
	}

	meta := metaOf(batch)
	if since == "" {
		key, captured, err := feed.Fields(x.Request.Context(), kind)
		if err != nil {
			return err
		}
		meta = append(meta, shapeOfCopy(kind, key, captured)...)
	}
	turn.limit()
	return sendChanges(x, batch, meta)
}

// metaOf returns the token after a batch, and the time of the last look at the kind.
func metaOf(batch *changes.Batch) []encode.Pair {
	meta := []encode.Pair{{Name: query.Next, Value: batch.Next}}
	if batch.LookedAt.IsZero() {
		return meta
	}
	return append(meta, encode.Pair{
		Name:  wire.MetaLookedAt,
		Value: batch.LookedAt.UTC().Format(wire.DateLayout) + "Z",
	})
}

// shapeOfCopy returns the names of the fields of the key, and of those that a copy cannot
// have because they are not captured.
func shapeOfCopy(kind *record.Kind, key, captured []int) []encode.Pair {
	var keyNames, omitted []string
	for _, field := range key {
		keyNames = append(keyNames, kind.Fields[field].Name)
	}
	for i, f := range kind.Fields {
		if !slices.Contains(captured, i) && !slices.Contains(key, i) {
			omitted = append(omitted, f.Name)
		}
	}
	return []encode.Pair{
		{Name: wire.MetaKey, Value: strings.Join(keyNames, ",")},
		{Name: wire.MetaOmitted, Value: strings.Join(omitted, ",")},
	}
}

// KindOf returns the kind that an operation on kinds is about. It fails if the caller may not read
// the records of the kind.
func KindOf(x *edge.Context) (*record.Kind, error) {
	if !MayRead(x, x.Kind) {
		return nil, errMayNotRead(x.Kind)
	}
	return x.Kind, nil
}

// captured returns the feed of a kind. It fails if the changes of the kind are not captured, or
// cannot be written in the format of the response.
func (h *Handler) captured(x *edge.Context, kind *record.Kind) (Feed, error) {
	switch {
	case kind.Database != record.RecordsDB:
		return nil, fault.New(fault.Conflict, "the changes of %s are not captured; only changes of the ERP's records are",
			kind.Name)
	case h.Feed == nil || !kind.Captured():
		return nil, fault.New(fault.Conflict,
			`the changes of %s are not captured: set capture = "%s" under [%s] in a file of record kinds`,
			kind.Name, record.CaptureOnDemand, kind.Name)
	case !slices.Contains(ChangeFormats, x.Format.Name):
		return nil, fault.New(fault.Invalid, "changes and copies are available as json and ndjson, not as %s",
			x.Format.Name)
	}
	return h.Feed()
}

// between returns a parser of whole numbers within bounds.
func between(low, high int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return 0, errors.New("must be a whole number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high))
		}
		return n, nil
	}
}

// read returns the changes since a token. Without one it returns the token of the present.
func read(x *edge.Context, feed Feed, kind *record.Kind, since string, take int) (*changes.Batch, error) {
	ctx := x.Request.Context()
	if since != "" {
		return feed.Read(ctx, kind, since, take, 0)
	}
	lookedAt, err := feed.LookedAt(ctx, kind)
	if err != nil {
		return nil, err
	}
	next, err := feed.Now(ctx, kind)
	return &changes.Batch{Next: next, LookedAt: lookedAt}, err
}

// await waits for a change without being counted as a concurrent request, at most until the
// service stops. The caller reads the changes when it has its turn, since all requests that wait
// continue together.
func (h *Handler) await(x *edge.Context, feed Feed, kind *record.Kind, since string, wait time.Duration) error {
	end, err := h.turns.wait(x.Identity.Owner())
	if err != nil {
		return err
	}
	defer end()
	x.Response.Slot.Release()
	ctx, cancel := h.untilStopped(x.Request.Context())
	defer cancel()
	_, err = feed.Read(ctx, kind, since, 1, wait)
	isServiceStopping := h.Stopping.Err() != nil && x.Request.Context().Err() == nil
	if isServiceStopping {
		return nil
	}
	return err
}

// untilStopped returns a context that is also done when the service stops.
func (h *Handler) untilStopped(ctx context.Context) (_ context.Context, cancel func()) {
	ctx, cancelContext := context.WithCancel(ctx)
	stopWatching := context.AfterFunc(h.Stopping, cancelContext)
	return ctx, func() {
		stopWatching()
		cancelContext()
	}
}

// sendChanges responds with the bodies of changes, which are JSON.
func sendChanges(x *edge.Context, batch *changes.Batch, meta []encode.Pair) error {
	h := x.Response.Header()
	h.Set("Content-Type", x.Format.ContentType)
	h.Set(wire.HeaderRowCount, strconv.Itoa(len(batch.Changes)))
	start := x.Format.Open(h, nil)
	if x.Format.Bare() {
		h.Set(wire.HeaderNextToken, batch.Next)
		var end []byte
		if len(batch.Changes) > 0 {
			end = []byte("\n")
		}
		return x.WriteParts(http.StatusOK, start, batch.Bodies("\n"), x.Format.Close(end))
	}
	start = append(start, `{"Results":[`...)
	end := []byte(`],"Meta":{`)
	for i, m := range meta {
		if i > 0 {
			end = append(end, ',')
		}
		end = strconv.AppendQuote(end, m.Name)
		end = append(end, ':')
		end = strconv.AppendQuote(end, m.Value)
	}
	end = append(end, `},"ResponseStatus":{}}`...)
	bodies := batch.Bodies(",")
	if x.Format.CamelCase() {
		start = encode.CamelNames(start)
		bodies = encode.CamelNames(bodies)
		end = encode.CamelNames(end)
	}
	return x.WriteParts(http.StatusOK, start, bodies, x.Format.Close(end))
}

// copying is a response with the rows of a copy.
type copying struct {
	Copy
	handler *Handler
	kind    *record.Kind
	token   string // of the changes that continue the copy; set by finish
}

// copyOf starts the copy that a plan selects rows for.
func (h *Handler) copyOf(x *edge.Context, plan *query.Plan) (*copying, error) {
	feed, err := h.captured(x, plan.Kind)
	if err != nil {
		return nil, err
	}
	if x.Format.Bare() && !x.Request.ProtoAtLeast(1, 1) {
		return nil, fault.New(fault.Invalid,
			"the token of the copy is a trailer, which HTTP/1.0 does not have: use json, or HTTP/1.1")
	}
	c, err := feed.Copy(x.Request.Context(), plan.Kind, plan.ForCopy)
	return &copying{Copy: c, handler: h, kind: plan.Kind}, err
}

// row passes a row on to the copy.
func (c *copying) row(ctx context.Context, cells []row.Cell) error {
	return c.Row(ctx, cells[:len(c.kind.Fields)])
}

// finish sends the rows so far and waits for the end of the copy: the client has the rows
// while capture reads some of them again.
func (c *copying) finish(o *responseWriter, rows *executor.Result) error {
	rows.Close()
	if err := o.flush(); err != nil {
		return err
	}
	o.x.Response.Slot.Release()
	ctx, cancel := c.handler.untilStopped(o.x.Request.Context())
	defer cancel()
	var err error
	c.token, err = c.End(ctx)
	return err
}
