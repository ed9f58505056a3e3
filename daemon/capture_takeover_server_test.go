package daemon_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestCaptureIsTakenOver kills the daemon that captures while rows are added: another one on
// the same store continues after webhooks.lease, without a gap and without a repetition.
func TestCaptureIsTakenOver(t *testing.T) {
	const rowsBefore, rows = 20, 60
	dsn := mssqltest.Database(t)
	s := newCaptureStory(t, dsn, "--store", dsn, "--migrate",
		"--webhooks-lease", "10s", "--webhooks-attempt-timeout", "3s")
	s.exec(timedTable...)
	writeKinds(t, filepath.Join(s.dir, "kinds"), "story", timedKinds)
	first := launchCapturing(t, s.args)
	s.start("")
	s.capturing("Left")
	token := s.now("Left")
	target, deliveries := receiver(t, 200)
	_, err := s.admin.AddSubscription(t.Context(), s.subscriber(), wire.SubscriptionRequest{
		URL:       &target,
		EventName: pointer("debtor.created"),
	})
	if err != nil {
		t.Fatal(err)
	}

	s.insertEach(1, rowsBefore)
	s.awaitChanges("Left", 1)
	if c := s.capture("Left"); c.Created > 0 {
		t.Fatalf("the second daemon captures before the first one is killed: %+v", c)
	}
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}

	killedAt := time.Now()
	s.until("Left", "taken over", func(c wire.Capture) bool { return c.SweptRows > 0 })
	t.Logf("taken over %v after the kill", time.Since(killedAt).Round(100*time.Millisecond))
	s.insertEach(rowsBefore+1, rows)

	s.awaitChanges("Left", rows)
	s.sweeps(1, "Left")
	s.checkCreatedOnce("Left", token, rows)
	checkOneEventOfEach(t, deliveries, rows)
}

// launchCapturing starts a daemon in a process of its own, which the end of the test kills if it
// still runs.
func launchCapturing(t *testing.T, args []string) *daemontest.Process {
	t.Helper()
	p, err := daemontest.Launch(t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	if err := p.Await(); err != nil {
		t.Fatal(err)
	}
	return p
}

// insertEach inserts rows one by one, from one number to another.
func (s *captureStory) insertEach(from, to int) {
	s.t.Helper()
	for no := from; no <= to; no++ {
		s.exec(insertItems(no, no)...)
	}
}

// checkCreatedOnce checks that the changes since a token are the creation of each row, once,
// with consecutive IDs.
func (s *captureStory) checkCreatedOnce(kind, token string, rows int) {
	s.t.Helper()
	list, _, err := s.changes(kind, token)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(list) != rows {
		s.t.Errorf("got %d changes, want one of each of %d rows", len(list), rows)
	}
	seen := make(map[string]bool)
	for i, c := range list {
		if want := int64(i + 1); c.ChangeID != want {
			s.t.Errorf("the ID of change %d is %d, want %d", i, c.ChangeID, want)
		}
		if c.Op != wire.OpCreated {
			s.t.Errorf("change %d is %s, want %s", c.ChangeID, c.Op, wire.OpCreated)
		}
		if seen[c.Key] {
			s.t.Errorf("change %d is of row %s again, want one change of each row", c.ChangeID, c.Key)
		}
		seen[c.Key] = true
	}
}

// checkOneEventOfEach waits for events of all rows. An attempt may be repeated, an event not.
func checkOneEventOfEach(t *testing.T, deliveries <-chan delivery, rows int) {
	t.Helper()
	messages := make(map[string]string) // by key
	for len(messages) < rows {
		d := await(t, deliveries)
		var change struct{ Key string }
		if err := json.Unmarshal([]byte(d.body), &change); err != nil {
			t.Fatalf("the body of an event is %s: %v", d.body, err)
		}
		id := d.header.Get("Webhook-Id")
		if earlier, ok := messages[change.Key]; ok && earlier != id {
			t.Errorf("row %s has the messages %s and %s, want one", change.Key, earlier, id)
		}
		messages[change.Key] = id
	}
}
