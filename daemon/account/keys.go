package account

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// NewKey is an API key to add.
type NewKey struct {
	Name    string
	Role    Role
	Expires time.Time // zero: never
}

// AddKey makes an API key. The secret, which is the key itself, is not kept.
func (s *Service) AddKey(ctx context.Context, n NewKey) (secret string, k Key, err error) {
	now := s.clock()
	var expiry string
	if !n.Expires.IsZero() && !n.Expires.After(now) {
		expiry = "must be in the future"
	}
	err = invalid("key",
		fault.Field{Name: "Name", Message: checkName(n.Name)},
		fault.Field{Name: "Role", Message: checkRole(n.Role)},
		fault.Field{Name: "Expires", Message: expiry})
	if err != nil {
		return "", Key{}, err
	}
	secret = newKey()
	k = Key{ID: newID(), Name: n.Name, Hash: hashOf(secret), Role: n.Role, Added: now, Expires: n.Expires}
	if err := s.store.AddKey(ctx, k); err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// Keys lists the API keys by name, with the uses that are not yet stored.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	keys, err := s.store.Keys(ctx)
	for i := range keys {
		if used := s.lastUses.latest(keys[i].ID); used.After(keys[i].LastUsed) {
			keys[i].LastUsed = used
		}
	}
	return keys, err
}

// RemoveKey ends an API key, found by its id or its name.
func (s *Service) RemoveKey(ctx context.Context, idOrName string) error {
	keys, err := s.store.Keys(ctx)
	if err != nil {
		return err
	}
	id := idOfKey(keys, idOrName)
	removed, err := s.store.RemoveKey(ctx, id)
	s.keys.forget(func(_ string, k *Key) bool { return k != nil && k.ID == id })
	s.lastUses.drop(id)
	if err == nil && !removed {
		return fault.New(fault.NotFound, "There is no API key of this id or name")
	}
	return err
}

// idOfKey is the id of the key that is meant. An id goes before a name, so
// that no name hides another key.
func idOfKey(keys []Key, idOrName string) string {
	id := idOrName
	for _, k := range keys {
		if k.ID == idOrName {
			return k.ID
		}
		if Fold(k.Name) == Fold(idOrName) {
			id = k.ID
		}
	}
	return id
}
