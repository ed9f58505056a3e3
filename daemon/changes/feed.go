package changes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// pollFeed is the interval in which changes of another daemon are looked for.
const pollFeed = time.Second

// firstLookDelay is the time after which followers retry during a first look.
const firstLookDelay = 5 * time.Second

// Feed lets followers read changes, on any daemon.
type Feed struct{ *Capturer }

// position is the content of a token: a change of an epoch, the last one that was read.
type position struct {
	epoch uint64
	id    int64
}

func (p position) String() string { return fmt.Sprintf("%016x-%d", p.epoch, p.id) }

func parsePosition(token string) (position, error) {
	epochText, idText, _ := strings.Cut(token, "-")
	epoch, epochErr := strconv.ParseUint(epochText, 16, 64)
	id, idErr := strconv.ParseInt(idText, 10, 64)
	p := position{epoch: epoch, id: id}
	if epochErr != nil || idErr != nil || p.String() != token { // only the form that String returns
		return position{}, fault.New(fault.Invalid, "%q is not a token of changes", token)
	}
	return p, nil
}

func resync(kind, why string) error {
	return fault.New(fault.Gone, "the changes of %s since the token are not known: %s; load the records again",
		kind, why)
}

// history is the knowledge of the store of a kind.
type history struct {
	Capture
	epochs []Epoch
}

func (f Feed) history(ctx context.Context, kind string) (h history, err error) {
	stored, err := f.config.Store.Captures(ctx)
	if err != nil {
		return h, err
	}
	for _, c := range stored {
		if c.Kind == kind {
			h.Capture = c
		}
	}
	h.epochs, err = f.config.Store.Epochs(ctx, kind)
	for i, e := range h.epochs {
		if e.ID == h.State.Epoch {
			h.epochs = h.epochs[i:]
			break
		}
	}
	return h, err
}

// halted is the error of a capture that has stopped, of kind Stopped.
func (h *history) halted() error {
	err := fault.New(fault.Stopped, "the capture of %s has stopped: %s", h.Kind, h.State.Reason)
	err.RetryAfter = firstLookDelay
	return err
}

// now returns the position of the present: after all changes that were published before it
// was read.
func (h *history) now() position {
	last := h.epochs[len(h.epochs)-1]
	return position{epoch: last.ID, id: max(h.Next, last.First) - 1}
}

// check returns why the changes after a position are not known.
func (h *history) check(p position) error {
	for i, e := range h.epochs {
		if e.ID != p.epoch {
			continue
		}
		end := h.Next
		if i+1 < len(h.epochs) {
			end = h.epochs[i+1].First
		}
		if p.id >= end || p.id < e.First-1 {
			return resync(h.Kind, "it is of another history of the store")
		}
		if p.id < h.FirstKept-1 {
			return resync(h.Kind, "they are older than the changes that are kept")
		}
		return nil
	}
	return resync(h.Kind, "it is of another history of the store, or from before a reset")
}

// ready fails until the first look at a kind has ended.
func (f Feed) ready(ctx context.Context, kind *record.Kind) (history, error) {
	if err := f.Need(ctx, kind); err != nil {
		return history{}, err
	}
	h, err := f.history(ctx, kind.Name)
	if err != nil {
		return h, err
	}
	firstLookHasEnded := !h.State.Swept.IsZero() && len(h.epochs) > 0
	if firstLookHasEnded {
		return h, nil
	}
	if h.State.Phase == Stopped {
		return h, h.halted()
	}
	notReady := fault.New(fault.Unavailable, "whd has not read all rows of %s yet", kind.Name)
	notReady.RetryAfter = firstLookDelay
	return h, notReady
}

// Now returns the token of the present. It fails with a fault of kind Unavailable until the
// first look has ended.
func (f Feed) Now(ctx context.Context, kind *record.Kind) (token string, err error) {
	h, err := f.ready(ctx, kind)
	if err != nil {
		return "", err
	}
	return h.now().String(), nil
}

// LookedAt returns the time of the last look at a kind: later changes are not known. Zero means
// that it is not known, or that there was none.
func (f Feed) LookedAt(ctx context.Context, kind *record.Kind) (time.Time, error) {
	if k := f.running(kind.Name); k != nil {
		if s := k.status.get(); s.Phase == Capturing {
			return time.Now().Add(-s.Lag), nil
		}
	}
	h, err := f.history(ctx, kind.Name)
	return h.State.Began, err
}

// Read returns up to take changes since a token. Without changes it waits for the first one, at
// most for the time wait. It fails with a fault of kind Gone if changes since the token are
// missing.
func (f Feed) Read(
	ctx context.Context, kind *record.Kind, since string, take int, wait time.Duration,
) (*Batch, error) {
	after, err := parsePosition(since)
	if err != nil {
		return nil, err
	}
	if err := f.Need(ctx, kind); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(wait)
	key := batchKey{kind: kind.Name, after: after, take: take}
	read := func(ctx context.Context) (*Batch, error) { return f.readBatch(ctx, kind, key) }
	for {
		published := f.changed(kind.Name) // before reading
		batch, err := f.batches.get(ctx, key, read)
		if err != nil {
			return nil, err
		}
		remaining := time.Until(deadline)
		if len(batch.Changes) > 0 || remaining <= 0 {
			return batch, nil
		}
		if published == nil { // another daemon captures the kind
			remaining = min(remaining, pollFeed)
		}
		if err := pause(ctx, published, remaining); err != nil {
			return nil, err
		}
	}
}

// readBatch reads a batch from the store.
func (f Feed) readBatch(ctx context.Context, kind *record.Kind, key batchKey) (*Batch, error) {
	looked, err := f.LookedAt(ctx, kind) // before reading: the changes until then are known
	if err != nil {
		return nil, err
	}
	list, err := f.config.Store.Changes(ctx, key.kind, key.after.id, key.take)
	if err != nil {
		return nil, err
	}
	h, err := f.history(ctx, key.kind) // after reading: it knows the epochs of the changes
	if err != nil {
		return nil, err
	}
	if err := h.check(key.after); err != nil {
		return nil, err
	}
	next := key.after
	if n := len(list); n > 0 {
		next = h.after(key.after, list[n-1].ID)
	}
	return &Batch{Changes: list, Next: next.String(), LookedAt: looked}, nil
}

// after returns the position of a change that was read from a position.
func (h *history) after(p position, id int64) position {
	for _, e := range h.epochs {
		if e.First <= id {
			p.epoch = e.ID
		}
	}
	p.id = id
	return p
}

// pause waits for a signal or a time.
func pause(ctx context.Context, wake <-chan struct{}, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-timer.C:
	}
	return nil
}
