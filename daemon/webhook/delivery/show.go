package delivery

import (
	"context"
	"slices"

	"github.com/bizhook/whd/daemon/webhook"
)

// show adds what a load changes to its batch, where a stream of another daemon
// is read, and to the load itself, for our own.
func (e *Engine) show(ctx context.Context, b *Batch, l *batch) error {
	elsewhere := e.watchedElsewhere.Load()
	if e.Show == nil && !elsewhere {
		return nil
	}
	if l.changes = e.changesOf(l); !elsewhere {
		return nil
	}
	b.Changes = slices.Concat(l.announced, l.changes)
	if len(b.Changes) == 0 {
		return nil
	}
	number, err := e.allocateIDs(ctx, 1)
	b.Home, b.Number = e.home.Partition, number
	return err
}

// changesOf is what becomes of messages by a load, in the order in which it
// happened.
func (e *Engine) changesOf(l *batch) []webhook.Change {
	subs := e.snapshot()
	all := make([]webhook.Change, 0, len(l.outcomes)+len(l.publications))
	for _, p := range slices.Concat(l.publications, l.notices) {
		for _, m := range p.messages {
			all = append(all, subs.ChangeOf(m, m.State, p.event.AddedAt))
		}
	}
	for i := range l.outcomes {
		r := &l.outcomes[i]
		c := subs.ChangeOf(r.Message, r.After, r.Began.Add(r.Took))
		c.Code, c.Took = r.Code, r.Took
		all = append(all, c)
	}
	return all
}

// Announce shows changes that were made in the store without the engine.
func (e *Engine) Announce(changes []webhook.Change) {
	if e.Show != nil && len(changes) > 0 {
		e.Show(changes)
	}
	if e.watchedElsewhere.Load() && len(changes) > 0 {
		e.pending.announce(changes)
	}
}
