package delivery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestReadyAfterAFailedWrite asks whether the engine is ready while events are
// refused, and after that.
func TestReadyAfterAFailedWrite(t *testing.T) {
	inBubble(t, func(x *trial) {
		ready := func(want bool, when string) {
			t.Helper()
			err := x.engine.Ready()
			if want && err != nil || !want && (err == nil || !strings.Contains(err.Error(), "could not be stored: the store cannot be used at the moment: the disk is full")) {
				t.Errorf("%s: ready: %v", when, err)
			}
		}
		away := deliverytest.Away("the disk is full")
		x.subscribe("http://127.0.0.1/hook", "*")
		ready(true, "before")
		x.faulty.Set(deliverytest.Refuse(away), deliverytest.Write)
		for range 20 {
			x.refused(1)
			ready(false, "while events are refused")
		}
		x.faulty.Set(nil, deliverytest.Write)
		x.pass(5 * time.Second)
		ready(true, "5 s later without an event")

		// A store that is damaged does not get better with time.
		x.faulty.Set(deliverytest.Refuse(errors.Join(away, delivery.ErrDamaged)), deliverytest.Write)
		x.refused(1)
		x.faulty.Set(nil, deliverytest.Write)
		x.pass(time.Hour)
		ready(false, "an hour after damage was found")
		x.publish("debtor.updated", "accepted")
		ready(true, "after a write")
		x.pass(time.Minute)
	})
}
