package webhook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"
)

// The members of a rotation.
const (
	MemberSecret  = "Secret"
	MemberKeepFor = "KeepFor"
)

// How long a secret that was replaced signs as well.
const (
	DefaultKeepFor = 24 * time.Hour
	MaxKeepFor     = 720 * time.Hour
)

// CheckKeepFor reports why a secret that is replaced may not sign for so long.
func CheckKeepFor(d time.Duration) error {
	if d < 0 || d > MaxKeepFor {
		return Invalid(MemberKeepFor, "must be a duration from 0 to 720h")
	}
	return nil
}

// SecretPrefix begins every secret, as Standard Webhooks has it.
const SecretPrefix = "whsec_"

// secretBytes is the length of new secrets: that of the hash.
const secretBytes = sha256.Size

// NewSecret makes a secret to sign with.
func NewSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return SecretPrefix + base64.StdEncoding.EncodeToString(key)
}

var errSecret = errors.New("must be whsec_ and 24 to 64 bytes in base64")

// ParseSecret gives the key that a secret holds. Standard Webhooks asks for 24
// to 64 bytes.
func ParseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errSecret
	}
	return key, nil
}
