package rest

import (
	"context"
	"errors"
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
)

const memberMode = "Mode"

// Captures manages the capture of changes.
type Captures interface {
	// List returns the state of all captures, by kind.
	List(ctx context.Context) ([]wire.Capture, error)
	// Resume resumes the capture of a kind and records that in the audit trail. It delivers
	// all changes since then, or with silent forgets the rows known so far. It fails with a fault
	// of kind Conflict if the capture has not stopped.
	Resume(ctx context.Context, actor audit.Actor, kind *record.Kind, silent bool) error
}

// captures has the handlers of the capture of changes.
type captures struct {
	of      Captures // nil if no kind's changes are captured
	queries *queries.Handler
}

// measured returns the list of the captures in /metrics. On the service's own address, where
// no login is required, it leaves out those of kinds that require a role.
func measured(c Config) func(context.Context) ([]wire.Capture, error) {
	return func(ctx context.Context) ([]wire.Capture, error) {
		all, err := c.Captures.List(ctx)
		kinds := c.Options().Kinds()
		return slices.DeleteFunc(all, func(k wire.Capture) bool {
			kind, ok := kinds.Lookup(k.Kind)
			return !ok || c.ServeMetrics && kind.Role != ""
		}), err
	}
}

func (h *captures) list(x *edge.Context) (err error) {
	var all []wire.Capture
	if h.of != nil {
		all, err = h.of.List(x.Request.Context())
	}
	return form.ListPage(x, "Captures", all, err, func(c wire.Capture) wire.Capture { return c })
}

func (h *captures) resume(x *edge.Context) error {
	kind, err := h.queries.KindOf(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(edge.ParamKind)
	silent := form.Require(f, memberMode, parseMode)
	if err := f.Done(x); err != nil {
		return err
	}
	if h.of == nil || !kind.Captured() {
		return fault.New(fault.Conflict, "the changes of %s are not captured", kind.Name)
	}
	return x.NoContent(h.of.Resume(x.Request.Context(), accounts.Actor(x), kind, silent))
}

// parseMode reports whether the mode is silent.
func parseMode(text string) (silent bool, err error) {
	if text != wire.ResumeRaise && text != wire.ResumeSilent {
		return false, errors.New("must be " + wire.ResumeRaise + " or " + wire.ResumeSilent)
	}
	return text == wire.ResumeSilent, nil
}
