package webhook

import (
	"context"
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
	now := r.engine.now()
	change := Rotation{Secret: secret}
	if keep > 0 {
		change.OldUntil = now.Add(keep)
	}
	is, err = r.book.ChangeRegistration(ctx, is.Subscriber, is.GUID, RegistrationChange{Secret: &change}, now)
	if err == nil {
		r.engine.Reload(ctx)
		r.engine.log.Info("the secret of a subscription was replaced", "subscription", is.GUID, "old until", is.OldSecretUntil)
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
