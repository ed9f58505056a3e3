package admin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// Selection is the messages that a bulk operation is for.
type Selection struct {
	Pick   Picker
	Filter audit.Detail // as the audit trail shows it
	Most   int64        // how many are dealt with, the oldest first; Unlimited for all
	DryRun bool         // nothing is changed, only counted
}

// Unlimited is the Most of a selection that is for all messages that match.
const Unlimited = -1

// Picker gives messages that match, in the order of their numbers: of those with
// higher numbers than after, and none higher than last, the first limit.
type Picker func(ctx context.Context, after, last int64, limit int) ([]Candidate, error)

// Candidate is a message that matches in the state that it was found in.
type Candidate struct {
	ID      int64
	Status  webhook.Status
	Retries int
}

// Changed is a message that a bulk operation has changed.
type Changed struct {
	ID           int64
	Subscription int64
	Before       webhook.Status
	webhook.Change
}

// Tally is what a bulk operation has come to.
type Tally struct {
	Matched int64
	Done    int64 // or, of a dry run, what would have been
}

// The actions on many messages, for the audit trail.
const (
	retryMessages  audit.Action = "messages retry"
	removeMessages audit.Action = "messages delete"
)

// RetryMessages makes messages due now that have failed or wait for another
// attempt.
func (r *Service) RetryMessages(ctx context.Context, s Selection, by audit.Actor) (Tally, error) {
	b := &bulk{Service: r, Selection: s, action: retryMessages, alter: r.store.RetryMessages, inform: r.notifier.Due, every: time.Second,
		wants: func(was webhook.Status) bool { return was == webhook.RetryPending || was == webhook.Failed },
		stale: func(Changed) bool { return true }}
	return b.run(ctx, by)
}

// RemoveMessages removes messages, whatever their state, and cancels what is
// pending of them.
func (r *Service) RemoveMessages(ctx context.Context, s Selection, by audit.Actor) (Tally, error) {
	b := &bulk{Service: r, Selection: s, action: removeMessages, alter: r.store.RemoveMessages, inform: r.notifier.Forget,
		wants: func(webhook.Status) bool { return true },
		stale: func(a Changed) bool { return a.Before.Open() }} // memory has no others
	return b.run(ctx, by)
}

// The pace of a bulk operation: those who deliver and publish in between must
// not feel it.
const (
	bulkRows  = 250
	bulkPause = 2 * time.Millisecond // at least, and as long as the work before it
	bulkLooks = 4                    // at messages that change while they are worked on
)

// bulk is an operation on its way through the messages. What is done stays
// done, whatever becomes of the rest.
type bulk struct {
	*Service
	Selection
	action audit.Action
	alter  func(context.Context, []Candidate, time.Time) ([]Changed, error)
	wants  func(webhook.Status) bool // whether there is anything to do about a message in this state
	stale  func(Changed) bool        // whether the lane's memory may be wrong after it
	inform func(subscription int64)
	every  time.Duration // how often a lane is informed at most, since it drops what it has in memory

	tally    Tally
	pending  map[int64]bool // subscriptions whose lanes are to be informed
	informed time.Time
}

func (b *bulk) run(ctx context.Context, by audit.Actor) (Tally, error) {
	if b.DryRun {
		return b.tally, b.pages(ctx)
	}
	if err := b.store.Note(ctx, b.entry(by, b.action, "messages", b.Filter)); err != nil {
		return b.tally, err
	}
	b.pending = make(map[int64]bool)
	err := b.pages(ctx)
	b.informLanes()
	b.log.Info(string(b.action), "by", by.Name, "matched", b.tally.Matched, "done", b.tally.Done, "whole", err == nil)
	return b.tally, b.interrupted(err)
}

// interrupted says how far an operation has come that failed.
func (b *bulk) interrupted(err error) error {
	if err == nil || b.tally.Done == 0 || fault.Is(err, fault.Internal) {
		return err
	}
	f := *fault.From(err)
	f.Message += fmt.Sprintf("; %d messages had been dealt with by then, and stay so", b.tally.Done)
	f.Err = err
	return &f
}

// pages goes once through the messages that there are now.
func (b *bulk) pages(ctx context.Context) error {
	last, err := b.store.LastMessage(ctx)
	if err != nil {
		return err
	}
	for after := int64(0); ; {
		limit := b.limit()
		if limit == 0 {
			return nil
		}
		page, err := b.Pick(ctx, after, last, limit)
		if err != nil {
			return err
		}
		b.tally.Matched += int64(len(page))
		began := time.Now()
		if err := b.page(ctx, page, after); err != nil || len(page) < limit {
			return err
		}
		after = page[len(page)-1].ID
		if b.DryRun {
			continue
		}
		select {
		case <-time.After(max(bulkPause, time.Since(began))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// limit is how many messages the next page may have.
func (b *bulk) limit() int {
	if b.Most == Unlimited {
		return bulkRows
	}
	return int(min(bulkRows, b.Most-b.tally.Matched))
}

// page works on the messages of a page. Those that have changed since they were
// picked, by an attempt perhaps, are picked once more: they may not match now.
func (b *bulk) page(ctx context.Context, page []Candidate, after int64) error {
	todo := slices.DeleteFunc(slices.Clone(page), b.unwanted)
	if b.DryRun {
		b.tally.Done += int64(len(todo))
		return nil
	}
	for look := 1; len(todo) > 0; look++ {
		done, err := b.alter(context.WithoutCancel(ctx), todo, b.notifier.Now())
		if err != nil {
			return err
		}
		b.note(done)
		if len(done) == len(todo) || look == bulkLooks {
			return nil
		}
		again, err := b.Pick(ctx, after, page[len(page)-1].ID, bulkRows)
		if err != nil {
			return err
		}
		todo = slices.DeleteFunc(again, func(p Candidate) bool {
			return b.unwanted(p) || !slices.ContainsFunc(todo, func(o Candidate) bool { return o.ID == p.ID }) ||
				slices.ContainsFunc(done, func(o Changed) bool { return o.ID == p.ID })
		})
	}
	return nil
}

// unwanted reports whether there is nothing to do about a message.
func (b *bulk) unwanted(p Candidate) bool { return !b.wants(p.Status) }

// note counts what was done, and notifies engine and streams.
func (b *bulk) note(done []Changed) {
	b.tally.Done += int64(len(done))
	changes := make([]webhook.Change, len(done))
	for i, a := range done {
		changes[i] = a.Change
		if b.stale(a) {
			b.pending[a.Subscription] = true
		}
	}
	b.notifier.Announce(changes)
	if time.Since(b.informed) >= b.every {
		b.informLanes()
	}
}

func (b *bulk) informLanes() {
	for subscription := range b.pending {
		b.inform(subscription)
	}
	clear(b.pending)
	b.informed = time.Now()
}
