package delivery

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

// outboxRows is how many rows of the outbox are read at once.
const outboxRows = 256

// outboxReader makes events of what others put into the outbox.
type outboxReader struct {
	*core
}

// run looks into the outbox now and then, until ctx is done.
func (o *outboxReader) run(ctx context.Context) {
	repeat(ctx, o.Log, "raising the events of the outbox failed", nil, o.OutboxInterval, o.drain)
}

// drain goes on for as long as there is something in the outbox and it is
// this daemon's duty.
func (o *outboxReader) drain(ctx context.Context) error {
	for o.queues.hasDuties() {
		rows, err := o.Store.Outbox(ctx, outboxRows)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := o.publish(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// publish has rows written as events. Their order is kept whatever fails: the store
// takes none before those with lower numbers. A row is gone exactly if its
// event's messages are durable.
func (o *outboxReader) publish(ctx context.Context, rows []OutboxEvent) error {
	var all []*publication
	for _, r := range rows {
		name, reason := o.validate(r)
		if reason == "" {
			p := newPublication(name, r.Body, o.Now())
			p.outbox = r.ID
			all = append(all, p)
			continue
		}
		if err := o.Store.RefuseOutbox(ctx, r.ID, reason); err != nil {
			return err
		}
		o.Log.Warn("a row of the outbox cannot become an event", "outbox", r.ID, "event", r.Name, "reason", reason)
	}
	return o.await(all)
}

// await has publications written, which go into the same batch where it has
// room for them. It gives the first failure.
func (o *outboxReader) await(all []*publication) (err error) {
	for i, p := range all {
		if err = o.pending.publish(p); err != nil {
			all = all[:i]
			break
		}
	}
	for _, p := range all {
		err = cmp.Or(err, <-p.done)
	}
	return err
}

// validate gives the name of the event that a row is, or why it is none. The
// rules are those of publishing.
func (o *outboxReader) validate(r OutboxEvent) (name, reason string) {
	switch {
	case r.TooLarge:
		return "", fmt.Sprintf("Body is larger than %d bytes", MaxBodySize)
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
