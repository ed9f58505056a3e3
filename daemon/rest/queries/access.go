package queries

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// MayRead reports whether the user of a request may read the records of a kind, in
// addition to the role of the route.
func MayRead(x *edge.Context, kind *record.Kind) bool {
	return x.Identity.Role.Includes(edge.KindRole(kind))
}

// MayQuery reports whether the caller of a route without a role may read the records of a
// kind.
func MayQuery(x *edge.Context, kind *record.Kind) bool {
	return MayRead(x, kind) && (x.Options.AnonymousQueries || x.Identity.Role.Includes(account.Reader))
}
