package delivery

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// outboxRows is how many rows of the outbox are read at once.
const outboxRows = 256

// readingOutbox turns what others put into the outbox into events.
func (e *Engine) readingOutbox(ctx context.Context) {
	wait := backoff.Backoff{Min: minBackoff, Max: maxBackoff}
	for e.sleep(ctx, nil, e.OutboxInterval+wait.Wait()) {
		err := e.drainOutbox(ctx)
		if err == nil {
			wait.Reset()
			continue
		}
		if wait.Next(); !errors.Is(err, ErrOutboxTaken) && ctx.Err() == nil {
			e.log.Warn("raising the events of the outbox failed", "error", err.Error())
		}
	}
}

// drainOutbox goes on for as long as there is something in the outbox and it is
// this daemon's duty.
func (e *Engine) drainOutbox(ctx context.Context) error {
	for e.hasDuties() {
		rows, err := e.store.Outbox(ctx, outboxRows)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := e.publishOutbox(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// publishOutbox has rows written as events. Their order is kept whatever fails: the store
// takes none before those with lower numbers. A row is gone exactly if its
// event's messages are durable.
func (e *Engine) publishOutbox(ctx context.Context, rows []OutboxEvent) error {
	var all []*publication
	for _, r := range rows {
		name, reason := e.acceptable(r)
		if reason == "" {
			all = append(all, e.fromOutbox(r, name))
			continue
		}
		if err := e.store.RefuseOutbox(ctx, r.ID, reason); err != nil {
			return err
		}
		e.log.Warn("a row of the outbox cannot become an event", "outbox", r.ID, "event", r.Name, "reason", reason)
	}
	return e.awaitAll(all)
}

// awaitAll has publications written, which go into the same batch where it has
// room for them. It gives the first failure.
func (e *Engine) awaitAll(all []*publication) (err error) {
	for i, p := range all {
		if err = e.pending.publish(p); err != nil {
			all = all[:i]
			break
		}
	}
	for _, p := range all {
		err = cmp.Or(err, <-p.done)
	}
	return err
}

func (e *Engine) fromOutbox(r OutboxEvent, name string) *publication {
	now := e.Now()
	event := &webhook.Event{GUID: newGUID(now), Name: name, Body: r.Body, AddedAt: now}
	return &publication{event: event, outbox: r.ID, done: make(chan error, 1)}
}

// acceptable gives the name of the event that a row is, or why it is none. The
// rules are those of publishing.
func (e *Engine) acceptable(r OutboxEvent) (name, reason string) {
	switch {
	case r.TooLarge:
		return "", fmt.Sprintf("Body is larger than %d bytes", MaxBodySize)
	case len(r.Body) == 0:
		return "", "Body must not be empty"
	case !utf8.Valid(r.Body) || bytes.IndexByte(r.Body, 0) >= 0:
		return "", "Body must be text without the character 0"
	}
	name, err := e.EventName(r.Name)
	if err != nil {
		return "", fault.Of(err).Message
	}
	return name, ""
}

// dropOutbox answers those of a load that come from the outbox, where they are
// not its next ones, and takes them out of it.
func dropOutbox(l *batch) {
	var rest []*publication
	for _, p := range l.publications {
		if p.outbox == 0 {
			rest = append(rest, p)
			continue
		}
		p.done <- ErrOutboxTaken
	}
	l.publications = rest
}
