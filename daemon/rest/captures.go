package rest

import (
	"context"
	"errors"
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// memberMode selects how the capture is resumed: wire.ResumePublish or wire.ResumeSilent.
const memberMode = "Mode"

// Captures manages the capture of changes.
type Captures interface {
	// List returns the state of all captures, by kind.
	List(ctx context.Context) ([]wire.Capture, error)
	// Resume resumes the capture of a kind and records that in the audit trail. The mode is
	// wire.ResumePublish or wire.ResumeSilent. It fails with a fault of kind Conflict if the
	// capture has not stopped.
	Resume(ctx context.Context, actor audit.Actor, kind *record.Kind, mode string) error
}

// captures has the handlers of the capture of changes.
type captures struct {
	manager Captures // nil if no kind's changes are captured
}

// measured returns the list of the captures in /metrics. On the service's own address, where
// no login is required, it leaves out those of kinds that require a role. Captures that nothing has
// requested have no measurements.
func measured(c Config) func(context.Context) ([]wire.Capture, error) {
	return func(ctx context.Context) ([]wire.Capture, error) {
		states, err := c.Captures.List(ctx)
		if err != nil {
			return nil, err
		}
		kinds := c.Options().Kinds()
		return slices.DeleteFunc(states, func(state wire.Capture) bool {
			kind, ok := kinds.Lookup(state.Kind)
			isHidden := ok && c.ServeMetrics && !account.RoleOf(kind).Allows(account.NoRole)
			return !ok || isHidden || state.Phase == wire.CaptureNotRequested
		}), nil
	}
}

// list returns the state of all captures.
func (h *captures) list(x *edge.Context) error {
	var states []wire.Capture
	var err error
	if h.manager != nil {
		states, err = h.manager.List(x.Request.Context())
	}
	document := func(state wire.Capture) wire.Capture { return state } // it is one
	return form.ListPage(x, "Captures", states, err, document)
}

// resume resumes the capture of a kind.
func (h *captures) resume(x *edge.Context) error {
	kind, err := queries.KindOf(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(edge.ParamKind)
	mode := form.Require(f, memberMode, parseMode)
	if err := f.Done(x); err != nil {
		return err
	}
	if h.manager == nil || !kind.Captured() {
		return fault.New(fault.Conflict, "the changes of %s are not captured", kind.Name)
	}
	return x.NoContent(h.manager.Resume(x.Request.Context(), accounts.Actor(x), kind, mode))
}

// parseMode checks the mode of a resumption.
func parseMode(text string) (string, error) {
	if text != wire.ResumePublish && text != wire.ResumeSilent {
		return "", errors.New("must be " + wire.ResumePublish + " or " + wire.ResumeSilent)
	}
	return text, nil
}
