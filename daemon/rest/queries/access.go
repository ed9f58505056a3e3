package queries

import (
	"context"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// MayRead reports whether the user of a request may read the records of a kind, in
// addition to the role of the route.
func MayRead(x *edge.Context, kind *record.Kind) bool {
	return account.RoleOf(kind).Allows(x.Identity.Role)
}

// Roles has the roles of users and API keys.
type Roles interface {
	// OwnerRole returns the role that an owner of subscriptions has now: NoRole after its
	// removal or expiry.
	OwnerRole(ctx context.Context, owner string) (account.Role, error)
}

// stillMayRead returns an error if the caller may no longer read the records of a kind: a request
// that has waited for changes began up to a minute ago.
func (h *Handler) stillMayRead(x *edge.Context, kind *record.Kind) error {
	if !x.Identity.Known() {
		return nil
	}
	role, err := h.Roles.OwnerRole(x.Request.Context(), x.Identity.Owner())
	if err != nil {
		return err
	}
	if role == account.NoRole {
		return fault.New(fault.Unauthorized, "the user or API key of this request has been removed")
	}
	if !account.RoleOf(kind).Allows(role) {
		return errMayNotRead(kind)
	}
	return nil
}

// errMayNotRead returns the error for a caller without the role of a kind.
func errMayNotRead(kind *record.Kind) error {
	return fault.New(fault.Forbidden, "%s requires the role %s", kind.Name, kind.Role)
}

// MayQuery reports whether the caller of a route without a role may read the records of a
// kind.
func MayQuery(x *edge.Context, kind *record.Kind) bool {
	return MayRead(x, kind) && (x.Options.AnonymousQueries || x.Identity.Role.Includes(account.Reader))
}
