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
	tests := []struct {
		name   string
		n      account.NewKey
		want   string
		fields []string
	}{
		{"valid", account.NewKey{Name: "till", Role: account.Reader}, "ok", nil},
		{"duplicate name in other letter case", account.NewKey{Name: "TILL", Role: account.Reader}, "conflict", []string{"Name"}},
		{"empty", account.NewKey{}, "invalid", []string{"Name", "Role"}},
		{"expired", account.NewKey{Name: "a", Role: account.Reader, Expires: now}, "invalid", []string{"ExpiryDateTime"}},
		{"key of another service", account.NewKey{Name: "b", Role: account.Reader, Secret: foreignKey}, "ok", nil},
		{"same key", account.NewKey{Name: "c", Role: account.Reader, Secret: foreignKey}, "conflict", nil},
		{"short key", account.NewKey{Name: "c", Role: account.Reader, Secret: foreignKey[:23]}, "invalid", []string{"Key"}},
		{"long key", account.NewKey{Name: "c", Role: account.Reader, Secret: strings.Repeat("x", 201)}, "invalid", []string{"Key"}},
		{"key with a space", account.NewKey{Name: "c", Role: account.Reader, Secret: "canary canary canary canary"}, "invalid", []string{"Key"}},
		{"cut key", account.NewKey{Name: "c", Role: account.Reader, Secret: "whd_" + foreignKey}, "invalid", []string{"Key"}},
		{"expires immediately", account.NewKey{Name: "a", Role: account.Reader, Expires: now.Add(1)}, "ok", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret, _, err := p.AddKey(t.Context(), tt.n)
			expectKind(t, err, tt.want)
			if err != nil && !slices.Equal(fieldsOf(err), tt.fields) {
				t.Errorf("fields %v, want %v", fieldsOf(err), tt.fields)
			}
			if err != nil && tt.n.Secret != "" && strings.Contains(err.Error(), tt.n.Secret) {
				t.Errorf("the error contains the key: %v", err)
			}
			if err == nil && tt.n.Secret == "" && !regexp.MustCompile(`^whd_[A-Za-z0-9_-]{43}$`).MatchString(secret) {
				t.Errorf("key %q", secret)
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
	if secret, _, err := p.AddKey(t.Context(), account.NewKey{Name: "erp", Role: account.Publisher, Secret: foreignKey}); err != nil || secret != foreignKey {
		t.Fatal(secret, err)
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
		t.Fatalf("keys are %+v (%v)", keys, err)
	}
	k.LastUsed, k.Added = used, keys[0].Added // the store keeps 100 ns
	k.Expires = keys[0].Expires
	if keys[0] != k || !keys[1].LastUsed.Equal(p.clock.Now()) || !keys[1].Expires.IsZero() {
		t.Errorf("keys are %+v", keys)
	}
}

func TestRemoveKey(t *testing.T) {
	p := begin(t)
	firstKey, first, err := p.AddKey(t.Context(), account.NewKey{Name: "one", Role: account.Reader})
	if err != nil {
		t.Fatal(err)
	}
	two := p.key(t, "two", account.Reader)
	three := p.key(t, first.ID, account.Reader) // its name is the first key's id
	for _, key := range []string{firstKey, two, three} {
		p.expect(t, bearer(key), "reader")
	}
	expectKind(t, p.RemoveKey(t.Context(), "unknown"), "not found")
	expectKind(t, p.RemoveKey(t.Context(), "TWO"), "ok")
	p.expect(t, bearer(two), "token expired")
	expectKind(t, p.RemoveKey(t.Context(), "two"), "not found")
	third := p.key(t, "two", account.Writer) // the name is free
	p.expect(t, bearer(third), "writer")
	p.expect(t, bearer(two), "token expired")
	if keys, err := p.Keys(t.Context()); err != nil || len(keys) != 3 {
		t.Errorf("keys are %+v (%v), want three without the revoked one", keys, err)
	}
	expectKind(t, p.RemoveKey(t.Context(), first.ID), "ok")
	p.expect(t, bearer(firstKey), "token expired")
	p.expect(t, bearer(three), "reader")
	expectKind(t, p.RemoveKey(t.Context(), first.ID), "ok")
	p.expect(t, bearer(three), "token expired")

	const taken = "a-key-of-another-service-0123456789abcdef"
	for range 2 { // an admin may give a revoked key again
		if _, _, err := p.AddKey(t.Context(), account.NewKey{Name: "taken over", Role: account.Reader, Secret: taken}); err != nil {
			t.Fatal(err)
		}
		p.clock.pass(5 * time.Second) // cached look-ups expire
		p.expect(t, bearer(taken), "reader")
		expectKind(t, p.RemoveKey(t.Context(), "taken over"), "ok")
		p.expect(t, bearer(taken), "token expired")
		p.expect(t, basic(taken, ""), "token expired")
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
	for secret, want := range map[string]string{
		revoked:                            "The API key was revoked",
		expired:                            "The API key expired on " + p.clock.Now().UTC().Format(time.RFC3339),
		revoked[:len(revoked)-1] + "_":     "Invalid API Key",
		expired[:len(expired)-1]:           "Invalid API Key",
		expired + "x":                      "Invalid API Key",
		"whd_" + strings.Repeat("A", 43):   "Invalid API Key",
		strings.ToUpper(revoked[:4]) + "x": "Invalid API Key",
	} {
		_, err := p.Authenticate(t.Context(), bearer(secret))
		if f := fault.From(err); f.Message != want || (f.Kind == fault.TokenExpired) != (want != "Invalid API Key") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
