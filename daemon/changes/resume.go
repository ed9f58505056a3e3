package changes

import (
	"context"

	"github.com/bizhook/whd/daemon/fault"
)

// Resumption determines the fate of the differences that a stopped capture has found.
type Resumption string

// The resumptions.
const (
	Raise  Resumption = "raise"  // they become changes
	Silent Resumption = "silent" // the shadow is filled again; followers have to resynchronize
)

// CanResume fails unless the capture of a kind has stopped on this daemon.
func (c *Capturer) CanResume(kind string) error {
	_, err := c.stopped(kind)
	return err
}

// Resume continues the capture of a kind that has stopped. It tries again after failures, until it
// succeeds or this daemon ceases to capture the kind, which then remains stopped.
func (c *Capturer) Resume(kind string, how Resumption) error {
	k, err := c.stopped(kind)
	if err != nil {
		return err
	}
	select {
	case k.resume <- how:
	default: // resumed twice
	}
	return nil
}

// stopped returns the capture of a kind that has stopped on this daemon.
func (c *Capturer) stopped(kind string) (*capture, error) {
	k := c.running(kind)
	phase := Phase("") // until the capture has read its state
	if k != nil {
		phase = k.status.get().Phase
	}
	if phase == "" {
		return nil, fault.New(fault.Unavailable, "this daemon does not capture %s now", kind)
	}
	if phase != Stopped {
		return nil, fault.New(fault.Conflict, "the capture of %s is not stopped", kind)
	}
	return k, nil
}

// resumeStopped carries out the resumption that an administrator has ordered.
func (k *capture) resumeStopped(ctx context.Context) error {
	if k.resumption == Silent {
		return k.startOver(ctx)
	}
	return k.raiseDifferences(ctx)
}

// raiseDifferences continues the capture with a sweep that raises all differences.
func (k *capture) raiseDifferences(ctx context.Context) error {
	if k.rows == nil {
		if err := k.begin(ctx); err != nil {
			return err
		}
	}
	k.database.accept()
	k.warned = ""

	k.state.resume()
	k.sweep = &sweep{capture: k, all: true}
	k.due = dueTimes{}
	k.status.set(func(s *Status) {
		s.Phase = k.state.Phase
		s.Reason = ""
	})
	return k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state)
}

// startOver removes the entries of the shadow, and has the next step begin with a first look. It
// needs no table and no valid state.
func (k *capture) startOver(ctx context.Context) error {
	if k.next == 0 {
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	k.database.accept()
	k.warned = ""

	if err := k.config.Store.Reset(ctx, k.kind.Name, k.fence); err != nil {
		return err
	}
	k.state = State{Needed: k.state.Needed}
	k.drop()
	return k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state)
}
