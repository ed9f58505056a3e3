package changes

import (
	"context"
	"time"
)

// begin reads the stored state and prepares the capture.
func (k *capture) begin(ctx context.Context) error {
	table, err := k.config.Source.Table(ctx, k.kind)
	if err != nil {
		return sourceError{err}
	}
	if k.next == 0 {
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	if len(table.Key) == 0 {
		return &stopped{reason: "no key of " + k.kind.Name + " is proven"}
	}
	count, highest, err := k.config.Store.Size(ctx, k.kind.Name)
	if err != nil {
		return err
	}
	if count == 0 && k.state.Rows > 0 {
		k.state.forget() // the shadow was lost
	}
	if err := k.invalidateTokens(ctx); err != nil {
		return err
	}

	k.state.Compared = k.compared
	if err := k.state.checkSchemes(k.kind.Name); err != nil {
		return &stopped{reason: err.Error() + "; resume it with --silent to fill its shadow again", manual: true}
	}
	rows := newRows(k.kind, table, nil, k.config.Secret, &k.state)
	k.state.adopt(rows.current.number, rows.scheme)
	k.state.begin()
	if needed := k.lastNeed(); needed.After(k.state.Needed) {
		k.state.Needed = needed
	}
	if err := k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state); err != nil {
		return err
	}

	k.rows = rows
	k.writer = &writer{
		capture: k,
		next:    k.next,
		highest: highest,
		newest:  highest,
		count:   count,
		limit:   maxGroup,
	}
	k.poller = &poller{capture: k}
	k.due = dueTimes{}
	k.status.set(func(s *Status) {
		s.Phase = k.state.Phase
		s.Rows = count
		s.Omitted = table.Omitted
		s.Reason = ""
		if k.state.Phase == Stopped {
			s.Reason = k.state.Reason
		}
	})
	return nil
}

// load takes the capture over from the fence before it, and reads its stored state. It is not
// repeated before that is dropped, since each time appends an epoch.
func (k *capture) load(ctx context.Context) error {
	stored, err := k.config.Store.Begin(ctx, k.kind.Name, k.fence)
	if err != nil {
		return err
	}
	k.state = stored.State
	k.next = stored.Next
	return nil
}

// invalidateTokens refuses the tokens of earlier epochs unless a look has ended: none was given out
// since, and the shadow of those before is gone.
func (k *capture) invalidateTokens(ctx context.Context) error {
	if !k.state.Swept.IsZero() {
		return nil
	}
	epochs, err := k.config.Store.Epochs(ctx, k.kind.Name)
	if err != nil {
		return err
	}
	k.state.Epoch = epochs[len(epochs)-1].ID
	return nil
}

// lastNeed returns the last time that a follower needed the changes.
func (k *capture) lastNeed() time.Time {
	return k.needs.last(k.kind.Name).UTC()
}
