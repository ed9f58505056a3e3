package delivery_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// secretsAt returns the secrets that a message is signed with at a time.
func (x *simulation) secretsAt(sub webhook.Subscription, now time.Time) []string {
	x.t.Helper()
	return x.engine.Subscriptions().Subscription(sub.ID).SecretsAt(now)
}

// keepSecrets prevents the removal of expired secrets, which is by the clock of the file.
func (x *simulation) keepSecrets() {
	x.advance(time.Second) // one may be running since the start
	x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("test")), deliverytest.Sweep)
}

// TestRotations replaces the secret of a subscription several times. Each secret signs until the
// time of the answer that replaced it; beyond a limit a rotation is refused.
func TestRotations(t *testing.T) {
	t.Run("an administrator", func(t *testing.T) {
		testRotations(t, admin.Caller{Owner: "user:ann", Admin: true}, 5, "At most 5 secrets")
	})
	t.Run("a SubscriberID alone", func(t *testing.T) {
		testRotations(t, admin.Caller{}, 2, "With a SubscriberID alone at most 2 secrets")
	})
}

// testRotations rotates the secret until limit secrets sign. The error of one rotation more has
// refusal.
func testRotations(t *testing.T, by admin.Caller, limit int, refusal string) {
	simulate(t, func(x *simulation) {
		sub := x.subscribe("http://127.0.0.1/hook", "*")
		x.keepSecrets()
		rotate := func(keep time.Duration) (webhook.Subscription, error) {
			secret := admin.NewSecret{KeepFor: keep}
			return x.service.RotateSecret(context.Background(), sub.Subscriber, sub.GUID, secret, by)
		}

		ends := make(map[string]time.Time) // of replaced secrets
		current := sub.Secret
		hours := []time.Duration{30, 10, 40, 20}
		for _, hour := range hours[:limit-1] {
			rotated, err := rotate(hour * time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			ends[current] = rotated.Replaced.Until
			current = rotated.Secret
			x.advance(time.Minute)
		}
		if len(ends) != limit-1 {
			t.Fatalf("%d different secrets were replaced, want %d", len(ends), limit-1)
		}

		_, err := rotate(time.Hour)
		firstEnd := slices.MinFunc(slices.Collect(maps.Values(ends)), time.Time.Compare)
		if !fault.Is(err, fault.Conflict) {
			t.Fatalf("one rotation more: error %v, want Conflict", err)
		}
		for _, part := range []string{refusal, firstEnd.UTC().Format(time.RFC3339)} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("one rotation more: error %v, want %q in it", err, part)
			}
		}

		for range 45 { // hours, more than the longest time
			x.expectSigning(sub, current, ends)
			x.advance(time.Hour)
		}
		_, err = rotate(time.Hour)
		if err != nil {
			t.Errorf("a rotation after the others have ended: %v", err)
		}
	})
}

// expectSigning checks that the current secret signs now, and each replaced one until its end.
func (x *simulation) expectSigning(sub webhook.Subscription, current string, ends map[string]time.Time) {
	x.t.Helper()
	now := x.engine.Now()
	signing := x.secretsAt(sub, now)
	if !slices.Contains(signing, current) {
		x.t.Errorf("at %v the current secret does not sign", now)
	}
	for secret, end := range ends {
		want := now.Before(end)
		if got := slices.Contains(signing, secret); got != want {
			x.t.Errorf("at %v the secret that ends at %v signs: %v, want %v", now, end, got, want)
		}
	}
}

// TestRotationEndsEarlierSecrets replaces a secret with KeepFor 0, which is never refused, and one
// that was replaced before by itself.
func TestRotationEndsEarlierSecrets(t *testing.T) {
	simulate(t, func(x *simulation) {
		sub := x.subscribe("http://127.0.0.1/hook", "*")
		x.keepSecrets()
		rotate := func(secret admin.NewSecret, by admin.Caller) []string {
			t.Helper()
			_, err := x.service.RotateSecret(context.Background(), sub.Subscriber, sub.GUID, secret, by)
			if err != nil {
				t.Fatal(err)
			}
			return x.secretsAt(sub, x.engine.Now())
		}
		ann := admin.Caller{Owner: "user:ann", Admin: true}
		for range 4 {
			rotate(admin.NewSecret{KeepFor: time.Hour}, ann)
		}

		signing := rotate(admin.NewSecret{Secret: sub.Secret, KeepFor: time.Hour}, ann)
		if len(signing) != 5 {
			t.Errorf("after a return to the first secret %d secrets sign, want 5", len(signing))
		}
		if signing[0] != sub.Secret || slices.Contains(signing[1:], sub.Secret) {
			t.Error("after a return to the first secret it is not the current one only")
		}
		signing = rotate(admin.NewSecret{}, admin.Caller{})
		if len(signing) != 1 {
			t.Errorf("after a rotation with KeepFor 0, %d secrets sign, want 1", len(signing))
		}
	})
}
