package account

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
)

// The prefixes of owners.
const (
	ownerUser = "user:"
	ownerKey  = "key:"
)

// owners has the current roles of users and API keys for work that is done on their behalf
// without a request of theirs.
type owners struct {
	store Store
	clock func() time.Time
	known *cache[map[string]ownerRole] // with one entry, of all owners
	last  sync.Map                     // Role by owner: those that OwnerMayRead read last
}

// ownerRole is the role of an owner.
type ownerRole struct {
	role    Role
	expires time.Time // zero: never
}

// read returns the roles of all users and keys, by Identity.Owner with a folded name.
func (s *owners) read(ctx context.Context, _ string) (*map[string]ownerRole, error) {
	users, err := s.store.Users(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.store.Keys(ctx)
	all := make(map[string]ownerRole, len(users)+len(keys))
	for _, u := range users {
		all[ownerUser+Fold(u.Name)] = ownerRole{role: u.Role}
	}
	for _, k := range keys {
		all[ownerKey+k.ID] = ownerRole{k.Role, k.Expires}
	}
	return &all, err
}

// OwnerRole returns the role that an owner has now: NoRole after its removal or expiry.
func (s *owners) OwnerRole(ctx context.Context, owner string) (Role, error) {
	now := s.clock()
	all, err := s.known.load(ctx, "", now)
	if err != nil {
		return NoRole, err
	}
	if name, user := strings.CutPrefix(owner, ownerUser); user {
		owner = ownerUser + Fold(name)
	}
	o := (*all)[owner]
	if !o.expires.IsZero() && !o.expires.After(now) {
		return NoRole, nil
	}
	return o.role, nil
}

// ownerTimeout limits the look-up of an owner's role for OwnerMayRead.
const ownerTimeout = 5 * time.Second

// OwnerMayRead reports whether an owner may read the records of a kind now: it must be a
// reader at least, even if the kind requires no role. If the accounts cannot be read, the
// role that was read last applies.
func (s *owners) OwnerMayRead(owner string, kind *record.Kind) bool {
	ctx, cancel := context.WithTimeout(context.Background(), ownerTimeout)
	defer cancel()
	role, err := s.OwnerRole(ctx, owner)
	if err == nil {
		s.last.Store(owner, role)
	} else if last, ok := s.last.Load(owner); ok {
		role = last.(Role)
	}
	return role.Includes(Reader) && RoleOf(kind).Allows(role)
}

// Owner returns the owner for an identity that was just authenticated. If its role was given to
// it by another daemon or program after the roles were read, they are read again.
func (s *owners) Owner(ctx context.Context, i Identity) string {
	owner := i.Owner()
	if owner == "" {
		return ""
	}
	if role, err := s.OwnerRole(ctx, owner); err == nil && role != i.Role {
		s.forget()
	}
	return owner
}

// forget makes the next look-up read the store.
func (s *owners) forget() {
	s.known.forget(func(string, *map[string]ownerRole) bool { return true })
}
