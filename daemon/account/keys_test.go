package account_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

func TestAddKey(t *testing.T) {
	p := begin(t)
	now := p.clock.Now()
	named := func(name string) account.NewKey {
		return account.NewKey{Name: name, Role: account.Reader}
	}
	expiring := func(name string, at time.Time) account.NewKey {
		n := named(name)
		n.Expires = at
		return n
	}
	foreign := func(name, secret string) account.NewKey {
		n := named(name)
		n.Secret = secret
		return n
	}
	tests := []struct {
		name   string
		key    account.NewKey
		want   string   // kind of the error
		fields []string // fields of the error
	}{
		{"valid", named("till"), "ok", nil},
		{"duplicate name in other letter case", named("TILL"), "conflict", []string{"Name"}},
		{"empty", account.NewKey{}, "invalid", []string{"Name", "Role"}},
		{"expired", expiring("a", now), "invalid", []string{"ExpiryDateTime"}},
		{"key of another service", foreign("b", foreignKey), "ok", nil},
		{"same key", foreign("c", foreignKey), "conflict", nil},
		{"short key", foreign("c", foreignKey[:23]), "invalid", []string{"Key"}},
		{"long key", foreign("c", strings.Repeat("x", 201)), "invalid", []string{"Key"}},
		{"key with a space", foreign("c", "canary canary canary canary"), "invalid", []string{"Key"}},
		{"cut key", foreign("c", "whd_"+foreignKey), "invalid", []string{"Key"}},
		{"expires immediately", expiring("a", now.Add(1)), "ok", nil},
	}
	generated := regexp.MustCompile(`^whd_[A-Za-z0-9_-]{43}$`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret, _, err := p.AddKey(t.Context(), tt.key)
			expectKind(t, err, tt.want)
			if err == nil {
				if tt.key.Secret == "" && !generated.MatchString(secret) {
					t.Errorf("got the key %q, want one that matches %s", secret, generated)
				}
				return
			}
			if !slices.Equal(fieldsOf(err), tt.fields) {
				t.Errorf("got the fields %v, want %v", fieldsOf(err), tt.fields)
			}
			if tt.key.Secret != "" && strings.Contains(err.Error(), tt.key.Secret) {
				t.Errorf("the error contains the key: %v", err)
			}
		})
	}
}

// foreignKey has the form of a key that the existing service issued.
const foreignKey = "kQ3-2_yZ9aBcDeFgHiJkLmNoPqRsTuVw"

// TestForeignKey checks that clients can keep a key of another service, sent in each way,
// and that users with a name of this form can still sign in.
func TestForeignKey(t *testing.T) {
	p := begin(t)
	p.expect(t, bearer(foreignKey), "unauthorized")
	secret, _, err := p.AddKey(t.Context(), account.NewKey{
		Name:   "erp",
		Role:   account.Publisher,
		Secret: foreignKey,
	})
	if err != nil || secret != foreignKey {
		t.Fatalf("adding the key %q: got %q (%v), want the same key", foreignKey, secret, err)
	}
	p.expect(t, bearer(foreignKey), "publisher")
	p.expect(t, basic(foreignKey, "x"), "publisher")
	p.expect(t, bearer(strings.ToUpper(foreignKey)), "unauthorized")

	const user = "abcdefghijklmnopqrstuvwxyz"
	p.add(t, user, account.Reader)
	p.expect(t, basic(user, goodPassword), "reader")
	p.expect(t, basic(user, badPassword), "unauthorized")
}

func TestKeyExpiryAndLastUse(t *testing.T) {
	p := begin(t)
	till := p.key(t, "till", account.Writer)
	short, k, err := p.AddKey(t.Context(), account.NewKey{
		Name:    "short",
		Role:    account.Reader,
		Expires: p.clock.Now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.expect(t, bearer(till), "writer")
	p.expect(t, bearer(short), "reader")
	p.clock.pass(time.Hour - 1)
	p.expect(t, bearer(short), "reader")
	used := p.clock.Now()
	p.clock.pass(1)
	p.expect(t, bearer(short), "token expired")
	p.expect(t, basic(short, ""), "token expired")
	p.expect(t, bearer(till), "writer")

	keys, err := p.Keys(t.Context())
	if err != nil || len(keys) != 2 {
		t.Fatalf("got keys %+v (%v), want two", keys, err)
	}
	want := k
	want.LastUsed = used
	want.Added = keys[0].Added // the store keeps 100 ns
	want.Expires = keys[0].Expires
	if keys[0] != want {
		t.Errorf("got the key %+v, want %+v", keys[0], want)
	}
	if !keys[1].LastUsed.Equal(p.clock.Now()) || !keys[1].Expires.IsZero() {
		t.Errorf("got the key %+v, want one without expiry, used at %v", keys[1], p.clock.Now())
	}
}

// TestRemoveKey checks that a key is removed by its name or ID, and is no longer accepted.
func TestRemoveKey(t *testing.T) {
	p := begin(t)
	first, firstKey, err := p.AddKey(t.Context(), account.NewKey{Name: "one", Role: account.Reader})
	if err != nil {
		t.Fatal(err)
	}
	second := p.key(t, "two", account.Reader)
	namedAsID := p.key(t, firstKey.ID, account.Reader)
	for _, key := range []string{first, second, namedAsID} {
		p.expect(t, bearer(key), "reader")
	}

	// By name, which is free afterwards.
	expectKind(t, p.RemoveKey(t.Context(), "unknown"), "not found")
	expectKind(t, p.RemoveKey(t.Context(), "TWO"), "ok")
	p.expect(t, bearer(second), "token expired")
	expectKind(t, p.RemoveKey(t.Context(), "two"), "not found")
	newSecond := p.key(t, "two", account.Writer)
	p.expect(t, bearer(newSecond), "writer")
	p.expect(t, bearer(second), "token expired")
	if keys, err := p.Keys(t.Context()); err != nil || len(keys) != 3 {
		t.Errorf("got keys %+v (%v), want three without the revoked one", keys, err)
	}

	// By ID, before the key with this name.
	expectKind(t, p.RemoveKey(t.Context(), firstKey.ID), "ok")
	p.expect(t, bearer(first), "token expired")
	p.expect(t, bearer(namedAsID), "reader")
	expectKind(t, p.RemoveKey(t.Context(), firstKey.ID), "ok")
	p.expect(t, bearer(namedAsID), "token expired")
}

// TestRevokedKeyCanBeAdded checks that an admin may give a revoked key of another service again.
func TestRevokedKeyCanBeAdded(t *testing.T) {
	p := begin(t)
	added := account.NewKey{Name: "taken over", Role: account.Reader, Secret: foreignKey}
	for range 2 {
		if _, _, err := p.AddKey(t.Context(), added); err != nil {
			t.Fatal(err)
		}
		p.clock.pass(5 * time.Second) // cached look-ups expire
		p.expect(t, bearer(foreignKey), "reader")
		expectKind(t, p.RemoveKey(t.Context(), added.Name), "ok")
		p.expect(t, bearer(foreignKey), "token expired")
		p.expect(t, basic(foreignKey, ""), "token expired")
	}
}

// TestInvalidKeysAreIndistinguishable checks that only the complete key shows that it has
// expired or was revoked.
func TestInvalidKeysAreIndistinguishable(t *testing.T) {
	p := begin(t)
	revoked := p.key(t, "revoked", account.Reader)
	expired, _, err := p.AddKey(t.Context(), account.NewKey{
		Name:    "expired",
		Role:    account.Reader,
		Expires: p.clock.Now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	expectKind(t, p.RemoveKey(t.Context(), "revoked"), "ok")
	p.clock.pass(time.Hour)
	const invalid = "Invalid API Key"
	expiry := p.clock.Now().UTC().Format(time.RFC3339)
	for secret, want := range map[string]string{
		revoked:                            "The API key was revoked",
		expired:                            "The API key expired on " + expiry,
		revoked[:len(revoked)-1] + "_":     invalid,
		expired[:len(expired)-1]:           invalid,
		expired + "x":                      invalid,
		"whd_" + strings.Repeat("A", 43):   invalid,
		strings.ToUpper(revoked[:4]) + "x": invalid,
	} {
		_, err := p.Authenticate(t.Context(), bearer(secret))
		wantKind := fault.TokenExpired
		if want == invalid {
			wantKind = fault.Unauthorized
		}
		if f := fault.From(err); f.Message != want || f.Kind != wantKind {
			t.Errorf("%s: got error %v, want %s", secret, err, want)
		}
	}
}
