package account_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
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
		{"expires immediately", account.NewKey{Name: "a", Role: account.Reader, Expires: now.Add(1)}, "ok", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret, _, err := p.AddKey(t.Context(), tt.n)
			expectKind(t, err, tt.want)
			if err != nil && !slices.Equal(fieldsOf(err), tt.fields) {
				t.Errorf("fields %v, want %v", fieldsOf(err), tt.fields)
			}
			if err == nil && !regexp.MustCompile(`^whd_[A-Za-z0-9_-]{43}$`).MatchString(secret) {
				t.Errorf("key %q", secret)
			}
		})
	}
}

func TestKeyExpiryAndLastUse(t *testing.T) {
	p := begin(t)
	till := p.key(t, "till", account.Writer)
	short, k, err := p.AddKey(t.Context(), account.NewKey{Name: "short", Role: account.Reader, Expires: p.clock.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	p.expect(t, bearer(till), "writer")
	p.expect(t, bearer(short), "reader")
	p.clock.pass(time.Hour - 1)
	p.expect(t, bearer(short), "reader")
	used := p.clock.Now()
	p.clock.pass(1)
	p.expect(t, bearer(short), "unauthorized")
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
	one, first, err := p.AddKey(t.Context(), account.NewKey{Name: "one", Role: account.Reader})
	if err != nil {
		t.Fatal(err)
	}
	two := p.key(t, "two", account.Reader)
	three := p.key(t, first.ID, account.Reader) // its name is the first key's id
	for _, key := range []string{one, two, three} {
		p.expect(t, bearer(key), "reader")
	}
	expectKind(t, p.RemoveKey(t.Context(), "unknown"), "not found")
	expectKind(t, p.RemoveKey(t.Context(), "TWO"), "ok")
	p.expect(t, bearer(two), "unauthorized")
	expectKind(t, p.RemoveKey(t.Context(), first.ID), "ok")
	p.expect(t, bearer(one), "unauthorized")
	p.expect(t, bearer(three), "reader")
	expectKind(t, p.RemoveKey(t.Context(), first.ID), "ok")
	p.expect(t, bearer(three), "unauthorized")
}
