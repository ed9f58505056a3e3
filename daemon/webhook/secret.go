package webhook

import (
	"context"
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
	maxKeepFor     = 720 * time.Hour
)

// CheckKeepFor reports why a secret that is replaced may not sign for so long.
func CheckKeepFor(d time.Duration) error {
	if d < 0 || d > maxKeepFor {
		return refused(MemberKeepFor, "must be a duration from 0 to 720h")
	}
	return nil
}

// RotateSecret replaces the secret of a subscription by another one, a new one
// where none is given. Messages are signed with both for a while, so that the
// receiver has the time to learn it.
func (r *Registrar) RotateSecret(ctx context.Context, subscriber, id, secret string, keep time.Duration) (Registration, error) {
	if err := CheckKeepFor(keep); err != nil {
		return Registration{}, err
	}
	is, err := r.Registration(ctx, subscriber, id)
	if err != nil {
		return is, err
	}
	if secret, err = nextSecret(is.Secret, secret); err != nil {
		return is, err
	}
	now := r.engine.Now()
	change := Rotation{Secret: secret}
	if keep > 0 {
		change.OldUntil = now.Add(keep)
	}
	is, err = r.book.ChangeRegistration(ctx, is.Subscriber, is.GUID, RegistrationChange{Secret: &change}, now)
	if err == nil {
		r.engine.Reload(ctx)
		r.log.Info("the secret of a subscription was replaced", "subscription", is.GUID, "old until", is.OldSecretUntil)
	}
	return is, err
}

// nextSecret is the secret that follows another one. Who replaces a secret by
// itself, in a second attempt perhaps, would take the right to sign from the one
// before it.
func nextSecret(present, wanted string) (string, error) {
	if wanted == "" {
		return NewSecret(), nil
	}
	if _, err := ParseSecret(wanted); err != nil {
		return "", refused(MemberSecret, "%s", err)
	}
	if wanted == present {
		return "", refused(MemberSecret, "is the present one already")
	}
	return wanted, nil
}

// secretPrefix begins every secret, as Standard Webhooks has it.
const secretPrefix = "whsec_"

// secretBytes is the length of new secrets: that of the hash.
const secretBytes = sha256.Size

// NewSecret makes a secret to sign with.
func NewSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

var errSecret = errors.New("must be whsec_ and 24 to 64 bytes in base64")

// ParseSecret gives the key that a secret holds. Standard Webhooks asks for 24
// to 64 bytes.
func ParseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errSecret
	}
	return key, nil
}
