package account

import (
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
)

func TestHashAndMatches(t *testing.T) {
	h := newHasher(fullCost)
	text, err := h.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "$argon2id$v=19$m=19456,t=4,p=1$") || strings.Contains(text, "horse") {
		t.Errorf("hash is %s", text)
	}
	salted, err := h.hash(t.Context(), "correct horse")
	if err != nil || salted == text {
		t.Errorf("two hashes of a password are equal (%v)", err)
	}
	for _, tt := range []struct {
		stored, password string
		want             bool
	}{
		{text, "correct horse", true},
		{salted, "correct horse", true},
		{text, "correct horse ", false},
		{text, "", false},
		{"", "correct horse", false},
		{"", "", false},
	} {
		got, err := h.matches(t.Context(), tt.stored, tt.password, true)
		if err != nil || got != tt.want {
			t.Errorf("%q matches %q: %v (%v), want %v", tt.stored, tt.password, got, err, tt.want)
		}
	}
	if _, err := h.matches(t.Context(), "nonsense", "correct horse", true); err == nil {
		t.Error("an invalid hash causes no error")
	}
}

// TestMatchesReferenceVector checks a vector computed by the reference implementation: 64 KiB,
// two threads, 24 bytes.
func TestMatchesReferenceVector(t *testing.T) {
	text := "$argon2id$v=19$m=64,t=2,p=2$c29tZXNhbHQ$NQrDciL0Nsy1wJcvHr079rlYvyBxhBNi"
	ok, err := newHasher(fullCost).matches(t.Context(), text, "password", true)
	if err != nil || !ok {
		t.Errorf("matching the password: got %v (%v), want true", ok, err)
	}
}

// TestDummyHasCostOfRealHash checks that the dummy hash of unknown users has the cost of a real
// hash.
func TestDummyHasCostOfRealHash(t *testing.T) {
	h := newHasher(fullCost)
	var costs [][3]uint32
	h.derive = func(password, salt []byte, passes, memory uint32, threads uint8, length uint32) []byte {
		costs = append(costs, [3]uint32{passes, memory, uint32(threads)})
		return argon2.IDKey(password, salt, 1, 8, 1, length)
	}
	text, err := h.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range []string{text, ""} {
		if _, err := h.matches(t.Context(), stored, "x", true); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range costs {
		if c != [3]uint32{4, 19 * 1024, 1} {
			t.Errorf("costs are %v, want 4 passes, 19 MiB and 1 thread each", costs)
		}
	}
	if len(costs) != 3 {
		t.Errorf("%d computations, want 3", len(costs))
	}
}

func TestWeak(t *testing.T) {
	for text, want := range map[string]bool{
		"m=19456,t=4,p=1": false,
		"m=19456,t=5,p=1": false,
		"m=65536,t=2,p=1": false,
		"m=19456,t=2,p=1": true,
		"m=19456,t=3,p=1": true,
		"m=8192,t=16,p=1": true,
		"m=65536,t=1,p=1": true,
	} {
		if got := newHasher(fullCost).weak("$argon2id$v=19$" + text + "$" + salt16 + "$" + sum32); got != want {
			t.Errorf("%s is weak: %v, want %v", text, got, want)
		}
	}
}

const (
	salt16 = "AAAAAAAAAAAAAAAAAAAAAA"
	sum32  = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

func TestParseDigest(t *testing.T) {
	tests := []struct {
		name, text string
		ok         bool
	}{
		{"own parameters", "$argon2id$v=19$m=19456,t=2,p=1$" + salt16 + "$" + sum32, true},
		{"higher cost", "$argon2id$v=19$m=65536,t=3,p=4$" + salt16 + "$" + sum32, true},
		{"empty", "", false},
		{"other algorithm", "$argon2i$v=19$m=19456,t=2,p=1$" + salt16 + "$" + sum32, false},
		{"other version", "$argon2id$v=16$m=19456,t=2,p=1$" + salt16 + "$" + sum32, false},
		{"memory of 4 TiB", "$argon2id$v=19$m=4294967295,t=2,p=1$" + salt16 + "$" + sum32, false},
		{"memory over 32 bits", "$argon2id$v=19$m=42949672960,t=2,p=1$" + salt16 + "$" + sum32, false},
		{"too many passes", "$argon2id$v=19$m=19456,t=99,p=1$" + salt16 + "$" + sum32, false},
		{"no threads", "$argon2id$v=19$m=19456,t=2,p=0$" + salt16 + "$" + sum32, false},
		{"too many threads", "$argon2id$v=19$m=19456,t=2,p=255$" + salt16 + "$" + sum32, false},
		{"no sum", "$argon2id$v=19$m=19456,t=2,p=1$" + salt16 + "$", false},
		{"no salt", "$argon2id$v=19$m=19456,t=2,p=1$$" + sum32, false},
		{"padding", "$argon2id$v=19$m=19456,t=2,p=1$" + salt16 + "==$" + sum32, false},
		{"additional parameter", "$argon2id$v=19$m=19456,t=2,p=1,x=1$" + salt16 + "$" + sum32, false},
		{"additional part", "$argon2id$v=19$m=19456,t=2,p=1$" + salt16 + "$" + sum32 + "$", false},
		{"leading zero", "$argon2id$v=19$m=019456,t=2,p=1$" + salt16 + "$" + sum32, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parseDigest(tt.text)
			if (err == nil) != tt.ok || tt.ok && d.String() != tt.text {
				t.Errorf("parsed %+v (%v), want ok %v", d, err, tt.ok)
			}
		})
	}
}

func FuzzParseDigest(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$" + salt16 + "$" + sum32)
	f.Add("$argon2id$v=19$m=64,t=2,p=2$c29tZXNhbHQ$NQrDciL0Nsy1wJcvHr079rlYvyBxhBNi")
	f.Add("$argon2id$v=19$m=1,t=1,p=1$$")
	f.Add("$$$$$")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDigest(text)
		if err != nil {
			return
		}
		if d.String() != text || !d.bounded() {
			t.Errorf("%q is parsed as %+v", text, d)
		}
	})
}
