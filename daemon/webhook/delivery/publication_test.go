package delivery

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// TestGUIDsOfMessages checks that GUIDs start with the time, by which messages are listed.
func TestGUIDsOfMessages(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, added := range []time.Time{noon, noon.Add(999 * time.Microsecond), noon.Add(time.Millisecond), time.Unix(0, 0)} {
		guid := newGUID(added)
		if want := webhook.GUIDTime(added) + "-7"; !strings.HasPrefix(guid, want) {
			t.Errorf("the GUID of a message added at %v is %s, want %s...", added, guid, want)
		}
	}
}
