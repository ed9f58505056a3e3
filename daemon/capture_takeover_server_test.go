package daemon_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestCaptureIsTakenOver kills the daemon that captures while rows are added: another one on
// the same store continues after webhooks.lease, without a gap and without a repetition.
func TestCaptureIsTakenOver(t *testing.T) {
	const rows, killAt = 60, 20
	dsn := mssqltest.Database(t)
	s := newCaptureStory(t, dsn, "--store", dsn, "--migrate", "--webhooks-lease", "10s", "--webhooks-attempt-timeout", "3s")
	s.exec(timedTable...)
	writeKinds(t, filepath.Join(s.dir, "kinds"), "story", timedKinds)
	captures, err := daemontest.Launch(t.TempDir(), s.args...)
	if err == nil {
		err = captures.Await()
	}
	if err != nil {
		t.Fatal(err)
	}
	killed := false
	t.Cleanup(func() {
		if !killed {
			_ = captures.Kill()
		}
	})
	s.start("")
	s.capturing("Left")
	token := s.now("Left")
	to, got := receiver(t, 200)
	if _, err := s.admin.AddSubscription(t.Context(), s.subscriber(), wire.SubscriptionRequest{URL: &to, EventName: pointer("debtor.created")}); err != nil {
		t.Fatal(err)
	}
	for no := range rows {
		s.exec(insertItems(no+1, no+1)...)
		if no != killAt {
			continue
		}
		s.raised("Left", 1)
		if c := s.capture("Left"); c.Created > 0 {
			t.Fatalf("the second daemon captures before the first one is killed: %+v", c)
		}
		if err := captures.Kill(); err != nil {
			t.Fatal(err)
		}
		killed = true
		at := time.Now()
		s.until("Left", "taken over", func(c wire.Capture) bool { return c.SweptRows > 0 })
		t.Logf("taken over %v after the kill", time.Since(at).Round(100*time.Millisecond))
	}
	s.raised("Left", rows)
	s.sweeps(1, "Left")
	list, _, err := s.changes("Left", token)
	seen := make(map[string]bool)
	for i, c := range list {
		if c.ChangeID != int64(i+1) || c.Op != wire.OpCreated || seen[c.Key] {
			t.Errorf("change %d: %+v", i, c)
		}
		seen[c.Key] = true
	}
	if err != nil || len(seen) != rows {
		t.Errorf("%d changes of %d rows, %v", len(list), rows, err)
	}
	messages := make(map[string]string) // by key; an attempt may be repeated
	for len(messages) < rows {
		d := await(t, got)
		_, key, _ := strings.Cut(d.body, `"Key":"`)
		key, _, _ = strings.Cut(key, `"`)
		if id := d.header.Get("Webhook-Id"); messages[key] != "" && messages[key] != id {
			t.Errorf("two events of %s", key)
		}
		messages[key] = d.header.Get("Webhook-Id")
	}
}
