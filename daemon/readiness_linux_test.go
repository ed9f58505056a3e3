package daemon_test

import (
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestReadinessOfFullDisk limits the size of this process's files while events are
// published, and then lifts the limit.
func TestReadinessOfFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // its default action ends the process
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}

	limit := func(bytes uint64) {
		err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{
			Cur: bytes,
			Max: before.Max,
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { limit(before.Cur) }) // before the daemon stops
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	t.Cleanup(func() { limit(before.Cur) })
	p := newPublisher(t, i.URL, i.Dir)
	ready := func() bool {
		reply, _ := get(t, i.URL+"/readyz")
		return reply.StatusCode == http.StatusOK
	}
	if status := p.publish(); status != http.StatusCreated || !ready() {
		t.Fatalf("status %d for an event, ready %v", status, ready())
	}

	log, err := os.Stat(filepath.Join(i.Dir, "whd.db-wal"))
	if err != nil {
		t.Fatal(err)
	}

	limit(max(uint64(log.Size()), 8<<20) + 16<<10) // the log of go test is shorter
	refused := 0
	for refused == 0 || ready() {
		if p.publish() != http.StatusCreated {
			refused++
		}
		if refused == 20 {
			t.Fatal("/readyz returns 200 after 20 refused events")
		}
	}

	t.Logf("/readyz returns 503 after %d refused events", refused)
	limit(before.Cur)
	for !ready() { // no event is needed for the recovery
		if t.Context().Err() != nil {
			t.Fatal("/readyz returns 503 although there is space again")
		}
		time.Sleep(50 * time.Millisecond)
	}

	if status := p.publish(); status != http.StatusCreated {
		t.Errorf("status %d for an event although /readyz returns 200", status)
	}
}
