package delivery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestReadyAfterFailedWrite checks readiness while events are rejected, and afterwards.
func TestReadyAfterFailedWrite(t *testing.T) {
	simulate(t, func(x *simulation) {
		const refusal = "could not be stored: the store cannot be used at the moment: the disk is full"
		expectReady := func(when string) {
			t.Helper()
			err := x.engine.Ready()
			if err != nil {
				t.Errorf("%s: got %v, want a ready engine", when, err)
			}
		}
		expectNotReady := func(when string) {
			t.Helper()
			err := x.engine.Ready()
			if err == nil || !strings.Contains(err.Error(), refusal) {
				t.Errorf("%s: got %v, want that an event %s", when, err, refusal)
			}
		}
		away := deliverytest.Unavailable("the disk is full")
		x.subscribe("http://127.0.0.1/hook", "*")
		expectReady("before")
		x.faultyStore.SetRule(deliverytest.Refuse(away), deliverytest.Write)
		for range 20 {
			x.publishRefused(1)
			expectNotReady("while events are refused")
		}
		x.faultyStore.SetRule(nil, deliverytest.Write)
		x.advance(5 * time.Second)
		expectReady("5 s later without an event")

		// A damaged store stays damaged.
		x.faultyStore.SetRule(deliverytest.Refuse(errors.Join(away, delivery.ErrDamaged)), deliverytest.Write)
		x.publishRefused(1)
		x.faultyStore.SetRule(nil, deliverytest.Write)
		x.advance(time.Hour)
		expectNotReady("an hour after damage was found")
		x.publish("debtor.updated", "accepted")
		expectReady("after a write")
		x.advance(time.Minute)
	})
}
