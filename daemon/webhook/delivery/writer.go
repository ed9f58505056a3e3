package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// writeLimit bounds one write. One that takes longer has failed for those who
// wait; whether the store did it all the same is found out by reading.
const writeLimit = 20 * time.Second

// writing writes loads, one after another, until the engine stops and nothing
// is left.
func (e *Engine) writing(ctx context.Context) {
	defer func() { e.refuse(e.pending.abandon(), stopping()) }()
	wait := backoff.Backoff{Min: minBackoff, Max: maxBackoff}
	for e.pending.await(e.flush) {
		l := e.pending.next()
		err := e.write(ctx, &l)
		switch {
		case err == nil:
			e.written(l)
			wait.Reset()
		case errors.Is(err, ErrFenced):
			refusal := errFencedOff
			if e.LeaseTerm > 0 {
				refusal = fault.Because(err, fault.Unavailable, "the service's lease has run out; try again")
			}
			e.refuse(l.publications, refusal)
			e.relinquish(ctx, l)
		default:
			e.failed(l, err)
			if ctx.Err() != nil || !e.sleep(ctx, nil, wait.Next()) {
				return
			}
		}
	}
}

// restless is for how long after a stale batch the subscriptions are read before
// the next ones are matched.
const restless = 10 * time.Second

// write matches the load's events and writes it in one transaction. Where the
// subscriptions have changed since they were read, it reads the changes and
// matches again, once: whatever changes after that is newer than the events.
func (e *Engine) write(ctx context.Context, l *batch) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	for {
		version := int64(AnyVersion)
		if time.Since(e.stale) < restless {
			if err := e.refresh(ctx); err != nil {
				return err
			}
		} else {
			version = e.snapshot().Version
		}
		e.announce(l)
		b := Batch{Version: version, Leases: e.leased(), Outcomes: l.outcomes, Disabled: l.disabled, Health: l.health, MaxTextSize: e.retention().TextSize}
		if err := e.fill(ctx, &b, l); err != nil {
			return err
		}
		if err := e.show(ctx, &b, l); err != nil {
			return err
		}
		err := e.store.Write(ctx, b)
		switch {
		case errors.Is(err, ErrStale):
			e.stale, err = time.Now(), nil
		case errors.Is(err, ErrOutboxTaken):
			dropOutbox(l)
			err = nil
		case errors.Is(err, ErrKeyTaken):
			err = e.dropTaken(ctx, l)
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

// fill adds the events that go anywhere, and their messages, to a batch. New
// numbers each time keep a write whose result is unknown apart from the next.
// Publications whose messages would be too many for one transaction are left to
// the next.
func (e *Engine) fill(ctx context.Context, b *Batch, l *batch) error {
	now, count := e.snapshot(), 0
	lines := make(map[int64]bool) // ordered subscriptions
	for i, p := range slices.Concat(l.notices, l.publications) {
		e.match(p, now, lines)
		if count += len(p.messages); count > batchMessages && i > len(l.notices) {
			at := i - len(l.notices)
			e.pending.putBack(l.publications[at:])
			l.publications = l.publications[:at]
			break
		}
	}
	all := slices.Concat(l.publications, l.notices)
	if len(lines) > 0 {
		e.ids.left = 0 // other daemons have blocks of their own: the order is that of fresh numbers
	}
	for line := range lines {
		if !holds(b.Leases, firstPartition) {
			b.PeerEvents = append(b.PeerEvents, PeerEvent{line, PeerAdded})
		}
	}
	for _, p := range all {
		if p.key != nil {
			p.key.Event, p.key.Count = p.event.GUID, len(p.messages)
			b.Keys = append(b.Keys, *p.key)
		}
		if p.outbox != 0 {
			b.Outbox = append(b.Outbox, p.outbox)
		}
		if len(p.messages) == 0 {
			continue
		}
		first, err := e.allocateIDs(ctx, 1+len(p.messages))
		if err != nil {
			return err
		}
		p.event.ID = first
		for i, m := range p.messages {
			m.ID = first + 1 + int64(i)
		}
		b.Events = append(b.Events, p.event)
		b.Messages = append(b.Messages, p.messages...)
	}
	return nil
}

// idBlock is how many numbers are set aside at once.
const idBlock = 4096

// allocateIDs gives n numbers in a row.
func (e *Engine) allocateIDs(ctx context.Context, n int) (int64, error) {
	if e.ids.left < n {
		first, err := e.store.AllocateIDs(ctx, max(n, idBlock))
		if err != nil {
			return 0, err
		}
		e.ids.next, e.ids.left = first, max(n, idBlock)
	}
	first := e.ids.next
	e.ids.next += int64(n)
	e.ids.left -= n
	return first, nil
}

// written gives everyone what they waited for: the publishers their answer, the
// lanes their messages.
func (e *Engine) written(l batch) {
	e.tally(l)
	if e.Show != nil {
		e.Show(l.changes)
	}
	e.mu.Lock()
	e.failure = nil
	for _, p := range slices.Concat(l.publications, l.notices) {
		for _, m := range p.messages {
			if lane := e.queueOf(m.Subscription); lane != nil {
				lane.accept(m)
				e.schedule(lane)
			}
		}
	}
	for i := range l.outcomes {
		e.settle(&l.outcomes[i])
	}
	e.dispatch()
	e.mu.Unlock()
	for _, p := range l.publications {
		p.done <- nil
	}
	e.disabled(l.disabled)
}

// settle makes an outcome that was written down the message's state.
func (e *Engine) settle(r *webhook.AttemptResult) {
	r.Message.State = r.After
	lane := e.queues[r.Message.Subscription]
	if lane == nil {
		e.budget.release(r.Message)
		return
	}
	lane.settled(r.Message)
	if e.budget.wanted(r.Message) {
		lane.spare(e.Now())
	}
	e.schedule(lane)
}

// failed answers the publishers of a load that could not be written, and keeps
// its outcomes for the next one. Since the store may have done it after all,
// the lanes look again a little later.
func (e *Engine) failed(l batch, err error) {
	e.log.Warn("writing events and outcomes failed", "events", len(l.publications), "outcomes", len(l.outcomes), "error", err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		err = fault.Because(err, fault.Unavailable, "the store did not answer in time; try again")
	}
	e.mu.Lock()
	e.failure, e.failedAt = err, time.Now()
	e.mu.Unlock()
	e.refuse(l.publications, err)
	e.pending.giveBack(l)
	if len(l.publications) > 0 {
		e.rewindLater()
	}
}

func (e *Engine) refuse(all []*publication, err error) {
	e.recorder.Count(stats.Counts{Refused: int64(len(all))})
	for _, p := range all {
		p.done <- err
	}
}
