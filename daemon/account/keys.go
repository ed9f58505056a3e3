package account

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
)

// keys authenticates by API keys and manages them.
type keys struct {
	store    Store
	clock    func() time.Time
	known    *cache[Key]   // keyed by hash
	lastUses *pendingTimes // keyed by id
}

// authenticate returns the identity of the key with the secret. It fails with
// fault.TokenExpired if the whole key is right but no longer valid; an unknown key is
// fault.Unauthorized, as any wrong one.
func (s *keys) authenticate(ctx context.Context, secret string, method AuthMethod) (Identity, error) {
	now := s.clock()
	var key *Key
	if looksLikeKey(secret) {
		var err error
		key, err = s.known.load(ctx, hashOf(secret), now)
		if err != nil {
			return Identity{}, err
		}
	}
	if key == nil {
		return Identity{}, fault.New(fault.Unauthorized, "Invalid API Key")
	}
	if key.Revoked {
		return Identity{}, fault.New(fault.TokenExpired, "The API key was revoked")
	}
	if !key.Expires.IsZero() && !key.Expires.After(now) {
		return Identity{}, fault.New(fault.TokenExpired, "The API key expired on %s",
			key.Expires.UTC().Format(time.RFC3339))
	}
	s.lastUses.record(key.ID, now)
	return Identity{Name: key.Name, Role: key.Role, AuthMethod: method, KeyID: key.ID}, nil
}

// NewKey is an API key to add.
type NewKey struct {
	Name    string
	Role    Role
	Expires time.Time // zero: never
	Secret  string    // key of another service to take over; generated if empty
}

// AddKey creates an API key. It returns the secret, which is not stored.
func (e *Editor) AddKey(ctx context.Context, n NewKey) (secret string, k Key, err error) {
	now := e.s.clock()
	if err := n.Check(now); err != nil {
		return "", Key{}, err
	}
	secret = n.Secret
	if secret == "" {
		secret = newKey()
	} else if err := e.s.checkUnused(ctx, secret); err != nil {
		return "", Key{}, err
	}
	k = Key{
		ID:      newID(),
		Name:    n.Name,
		Hash:    hashOf(secret),
		Role:    n.Role,
		Added:   now,
		Expires: n.Expires,
	}
	if err := e.s.store.AddKey(ctx, k, e.entry(audit.AddKey, k.Name, k.detail())); err != nil {
		return "", Key{}, err
	}
	e.s.keys.known.forget(func(hash string, _ *Key) bool { return hash == k.Hash })
	e.s.owners.forget()
	return secret, k, nil
}

// Check returns an error with the invalid fields.
func (n NewKey) Check(now time.Time) error {
	var expiry string
	if !n.Expires.IsZero() && !n.Expires.After(now) {
		expiry = "must be in the future"
	}
	var secret string
	if n.Secret != "" {
		secret = checkKey(n.Secret)
	}
	return invalid("key",
		fault.Field{Name: "Key", Message: secret},
		fault.Field{Name: "Name", Message: checkName(n.Name)},
		fault.Field{Name: "Role", Message: checkRole(n.Role)},
		fault.Field{Name: "ExpiryDateTime", Message: expiry})
}

// checkUnused returns an error if a key with the secret exists and was not revoked.
func (s *keys) checkUnused(ctx context.Context, secret string) error {
	existing, err := s.store.Key(ctx, hashOf(secret))
	if err != nil || existing == nil || existing.Revoked {
		return err
	}
	return fault.New(fault.Conflict, "This API key already exists under the name %s", existing.Name)
}

// Keys lists the API keys by name. Last uses include those not yet stored.
func (s *keys) Keys(ctx context.Context) ([]Key, error) {
	keys, err := s.store.Keys(ctx)
	for i := range keys {
		if used := s.lastUses.latest(keys[i].ID); used.After(keys[i].LastUsed) {
			keys[i].LastUsed = used
		}
	}
	return keys, err
}

// RemoveKey revokes an API key, found by its id or its name.
func (e *Editor) RemoveKey(ctx context.Context, idOrName string) error {
	key, err := e.s.FindKey(ctx, idOrName)
	if err != nil {
		return err
	}
	removed, err := e.s.store.RemoveKey(ctx, key.ID, e.entry(audit.RemoveKey, key.Name, nil))
	e.s.keys.known.forget(func(_ string, k *Key) bool { return k != nil && k.ID == key.ID })
	e.s.lastUses.drop(key.ID)
	e.s.owners.forget()
	if err == nil && !removed {
		return noKey()
	}
	return err
}

// FindKey finds an API key by its id or its name. Ids take precedence, so that a name
// cannot hide another key.
func (s *keys) FindKey(ctx context.Context, idOrName string) (Key, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return Key{}, err
	}
	var named *Key
	for i, k := range keys {
		if k.ID == idOrName {
			return k, nil
		}
		if Fold(k.Name) == Fold(idOrName) {
			named = &keys[i]
		}
	}
	if named == nil {
		return Key{}, noKey()
	}
	return *named, nil
}

func noKey() error { return fault.New(fault.NotFound, "There is no API key with this id or name") }
