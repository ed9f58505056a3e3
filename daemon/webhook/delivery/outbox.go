package delivery

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

// outboxRows is the number of rows of the outbox to read at a time.
const outboxRows = 256

// outboxReader publishes the events that other programs insert into the outbox.
type outboxReader struct {
	*core
}

// run reads the outbox at intervals, until ctx is done.
func (o *outboxReader) run(ctx context.Context) {
	repeat(ctx, o.Log, "publishing events of the outbox failed", nil, o.OutboxInterval, o.drain)
}

// drain publishes events until the outbox is empty or another daemon is responsible for
// it.
func (o *outboxReader) drain(ctx context.Context) error {
	for o.queues.isCoordinator() {
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

// publish writes rows as events, in their order even after failures: the store rejects
// a row before rows with lower IDs. A row is deleted in the transaction that stores its
// event's messages.
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
		o.Log.Warn("a row of the outbox is not a valid event", "outbox", r.ID, "event", r.Name, "reason", reason)
	}
	return o.await(all)
}

// await queues publications, which share a batch if they fit, and waits until they are
// written. It returns the first error.
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

// validate returns the canonical event name of a row, or the reason why the row is
// invalid. The rules are those of publishing.
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
