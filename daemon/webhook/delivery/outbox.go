package delivery

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

// Limits of rows.
const (
	outboxRows = 256  // to read at a time
	maxMarked  = 1000 // published rows that could not be deleted, above which no more are read
)

// outboxReader publishes the events that other programs insert into the outbox.
type outboxReader struct {
	*core
	lease   Lease     // under which the marks were read; zero to read them again
	marked  []string  // GUIDs of the rows of an external outbox that have marks
	settled time.Time // when a write with an unknown result can no longer be completed
}

// run reads the outbox at intervals, until ctx is done.
func (o *outboxReader) run(ctx context.Context) {
	repeat(ctx, o.Log, "publishing events of the outbox failed", nil, o.OutboxInterval, o.drain)
}

// drain publishes events until the outbox is empty or another daemon is responsible for
// it. If published rows cannot be deleted, it leaves them out and publishes the others.
func (o *outboxReader) drain(ctx context.Context) error {
	for {
		lease, ok := o.queues.coordinatorLease()
		if !ok {
			return nil
		}
		if err := o.readMarks(ctx, lease); err != nil {
			return err
		}
		failed := o.deleteMarked(ctx)
		if len(o.marked) > maxMarked {
			return failed
		}
		rows, err := o.table().ReadOutbox(ctx, outboxRows, o.marked)
		if err != nil || len(rows) == 0 {
			return cmp.Or(err, failed)
		}
		if err := o.publish(ctx, rows); err != nil {
			return err
		}
	}
}

// table returns the outbox to read.
func (o *outboxReader) table() OutboxTable {
	if o.Outbox != nil {
		return o.Outbox
	}
	return o.Store
}

// readMarks reads which rows are marked: after the start, after a failed write, and when
// another daemon may have published rows.
func (o *outboxReader) readMarks(ctx context.Context, lease Lease) error {
	if lease.Partition == o.lease.Partition && lease.Fence == o.lease.Fence {
		return nil
	}
	if o.Outbox != nil {
		var err error
		o.marked, err = o.Store.OutboxMarks(ctx, o.Outbox.Source())
		if err != nil {
			return err
		}
	}
	o.lease = lease
	return nil
}

// deleteMarked deletes published rows of an external outbox and then removes their marks,
// unless a write that seems to have failed may still be completed: only a mark prevents
// that it publishes the same rows.
func (o *outboxReader) deleteMarked(ctx context.Context) error {
	if len(o.marked) == 0 {
		return nil
	}
	if err := o.Outbox.Delete(ctx, o.marked); err != nil || time.Now().Before(o.settled) {
		return err
	}
	if err := o.Store.RemoveOutboxMarks(ctx, o.Outbox.Source(), o.marked); err != nil {
		return err
	}
	o.marked = nil
	return nil
}

// publish writes rows as events, in their order even after failures: the store rejects
// a row before rows with lower IDs. A row is deleted, or marked, in the transaction that
// stores its event's messages. If an invalid row cannot be refused, the others are published.
func (o *outboxReader) publish(ctx context.Context, rows []OutboxEvent) error {
	var publications []*publication
	var failed error
	var broken bool
	for _, r := range rows {
		name, reason := o.validate(r)
		if reason == "" {
			p := newPublication(Post{Name: name, Body: r.Body}, o.Now())
			p.outbox = &r
			p.lease = o.lease
			p.broken = &broken
			publications = append(publications, p)
			continue
		}
		if failed == nil {
			failed = o.table().RefuseOutbox(ctx, r, reason)
		}
		if failed == nil {
			o.Log.Warn("a row of the outbox is not a valid event", "outbox", r.ID, "event", r.Name, "reason", reason)
		} else if o.Outbox == nil {
			break // the store rejects the rows after it
		}
	}

	err := o.await(publications)
	if err != nil {
		o.lease = Lease{}
		o.settled = time.Now().Add(writeTimeout)
	} else if o.Outbox != nil {
		for _, p := range publications {
			o.marked = append(o.marked, p.outbox.GUID)
		}
	}
	return cmp.Or(err, failed)
}

// await queues publications, which share a batch if they fit, and waits until they are
// written. It returns the first error.
func (o *outboxReader) await(publications []*publication) error {
	var first error
	for i, p := range publications {
		first = o.pending.publish(p)
		if first != nil {
			publications = publications[:i]
			break
		}
	}
	for _, p := range publications {
		first = cmp.Or(first, <-p.done)
	}
	return first
}

// validate returns the canonical event name of a row, or the reason why the row is
// invalid. The rules are those of publishing.
func (o *outboxReader) validate(r OutboxEvent) (name, reason string) {
	switch {
	case r.TooLarge:
		return "", fmt.Sprintf("Body is larger than %d bytes", MaxEventBody)
	case len(r.Body) == 0:
		return "", "Body must not be empty"
	case !utf8.Valid(r.Body) || bytes.IndexByte(r.Body, 0) >= 0:
		return "", "Body must be text without the character 0"
	}
	name, err := o.EventName(r.Name)
	if err != nil {
		return "", fault.From(err).Message
	}
	return name, ""
}
