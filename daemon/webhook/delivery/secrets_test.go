package delivery_test

import (
	"context"
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
// time of the answer that replaced it; beyond five a rotation is refused.
func TestRotations(t *testing.T) {
	for _, tt := range []struct {
		name  string
		by    admin.Caller
		limit int
		text  string
	}{
		{"an administrator", admin.Caller{Owner: "user:ann", Admin: true}, 5, "At most 5 secrets"},
		{"a SubscriberID alone", admin.Caller{}, 2, "With a SubscriberID alone at most 2 secrets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				sub := x.subscribe("http://127.0.0.1/hook", "*")
				x.keepSecrets()
				rotate := func(keep time.Duration) (webhook.Subscription, error) {
					return x.service.RotateSecret(context.Background(), sub.Subscriber, sub.GUID, admin.NewSecret{KeepFor: keep}, tt.by)
				}
				promised := make(map[string]time.Time) // end of each secret; zero for the current one
				current := sub.Secret
				hours := []time.Duration{30, 10, 40, 20}
				for _, hour := range hours[:tt.limit-1] {
					r, err := rotate(hour * time.Hour)
					if err != nil {
						t.Fatal(err)
					}
					promised[current] = r.Replaced.Until
					current = r.Secret
					x.advance(time.Minute)
				}
				promised[current] = time.Time{}
				if len(promised) != tt.limit {
					t.Fatalf("%d secrets, want %d", len(promised), tt.limit)
				}

				_, err := rotate(time.Hour)
				var first time.Time
				for _, end := range promised {
					if !end.IsZero() && (first.IsZero() || end.Before(first)) {
						first = end
					}
				}
				if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), first.UTC().Format(time.RFC3339)) {
					t.Errorf("one rotation more returned %v, want a conflict with the time %v", err, first)
				}
				for range 45 {
					now := x.engine.Now()
					signing := x.secretsAt(sub, now)
					for secret, end := range promised {
						if want := end.IsZero() || now.Before(end); slices.Contains(signing, secret) != want {
							t.Errorf("at %v the secret that ends at %v signs: %v, want %v", now, end, !want, want)
						}
					}
					x.advance(time.Hour)
				}
				if _, err := rotate(time.Hour); err != nil {
					t.Errorf("a rotation after the others have ended returned %v", err)
				}
			})
		})
	}
}

// TestRotationEndsEarlierSecrets replaces a secret with KeepFor 0, which is never refused, and one
// that was replaced before by itself.
func TestRotationEndsEarlierSecrets(t *testing.T) {
	simulate(t, func(x *simulation) {
		sub := x.subscribe("http://127.0.0.1/hook", "*")
		x.keepSecrets()
		rotate := func(n admin.NewSecret, by admin.Caller) {
			t.Helper()
			if _, err := x.service.RotateSecret(context.Background(), sub.Subscriber, sub.GUID, n, by); err != nil {
				t.Fatal(err)
			}
		}
		ann := admin.Caller{Owner: "user:ann", Admin: true}
		for range 4 {
			rotate(admin.NewSecret{KeepFor: time.Hour}, ann)
		}
		rotate(admin.NewSecret{Secret: sub.Secret, KeepFor: time.Hour}, ann)
		if got := x.secretsAt(sub, x.engine.Now()); len(got) != 5 || got[0] != sub.Secret || slices.Contains(got[1:], sub.Secret) {
			t.Errorf("after a return to the first secret %d sign, want 5, the first one as the current one only", len(got))
		}
		rotate(admin.NewSecret{}, admin.Caller{})
		if got := x.secretsAt(sub, x.engine.Now()); len(got) != 1 {
			t.Errorf("after KeepFor 0, %d secrets sign, want 1", len(got))
		}
	})
}
