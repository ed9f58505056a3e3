package account

import (
	"strings"
	"testing"
)

func TestRoles(t *testing.T) {
	names := []string{"reader", "publisher", "writer", "admin"}
	for i, r := range Roles() {
		if r.String() != names[i] {
			t.Errorf("role %d is %s, want %s", i, r, names[i])
		}
		if got, err := ParseRole(strings.ToUpper(names[i])); err != nil || got != r {
			t.Errorf("ParseRole returns %v (%v), want %v", got, err, r)
		}
		for j, other := range Roles() {
			if r.Includes(other) != (j <= i) {
				t.Errorf("%s includes %s: %v", r, other, r.Includes(other))
			}
		}
		if NoRole.Includes(r) {
			t.Errorf("NoRole includes %s", r)
		}
		text, err := r.MarshalText()
		var back Role
		if err != nil || back.UnmarshalText(text) != nil || back != r {
			t.Errorf("%s as text is %s (%v)", r, text, err)
		}
	}
	for _, text := range []string{"", "root", "reader "} {
		if r, err := ParseRole(text); err == nil || r != NoRole {
			t.Errorf("ParseRole(%q) = %v", text, r)
		}
	}
	if Role(9).String() != "Role(9)" {
		t.Errorf("an unknown role is %s", Role(9))
	}
}

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"admin", "Admin", "ADMIN", "aDMIN"},
		{"ärger", "ÄRGER"},
		{"σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"k", "K", "\u212a"}, // the Kelvin sign
	} {
		for _, name := range same {
			if Fold(name) != Fold(same[0]) {
				t.Errorf("%q and %q differ", name, same[0])
			}
		}
	}
	if Fold("ann") == Fold("änn") {
		t.Error("names that differ in an accent are equal")
	}
}

func TestGeneratedSecretsAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		id := newSessionID()
		key := newKey()
		guid := newID()
		if len(id) != SessionIDLength || strings.ContainsAny(id, "+/=") {
			t.Fatalf("session id %q", id)
		}
		if !looksLikeKey(key) || looksLikeKey(id) || strings.ContainsAny(key, "+/=") {
			t.Fatalf("key %q", key)
		}
		if len(guid) != 36 || guid[14] != '4' || guid != strings.ToLower(guid) {
			t.Fatalf("id %q", guid)
		}
		for _, text := range []string{id, key, guid} {
			if seen[text] {
				t.Fatalf("%q was generated twice", text)
			}
			seen[text] = true
		}
	}
}

func TestFingerprints(t *testing.T) {
	p := newFingerprints()
	first := p.of("ab", "c")
	if repeated := p.of("ab", "c"); repeated != first {
		t.Errorf("the fingerprint of the same parts is %x, then %x", first, repeated)
	}
	if divided := p.of("a", "bc"); divided == first {
		t.Error("parts of other lengths have the same fingerprint")
	}
	if foreign := newFingerprints().of("ab", "c"); foreign == first {
		t.Error("the same parts have the same fingerprint with another key")
	}
}
