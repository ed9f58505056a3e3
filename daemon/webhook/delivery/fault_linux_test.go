package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest/roottest"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestFullDisk fills a small file system.
func TestFullDisk(t *testing.T) {
	dir := roottest.SmallDisk(t, "16m")
	filler := filepath.Join(dir, "filler")
	testFullDisk(t, dir, func() error {
		for size := 1 << 20; size > 0; size /= 2 {
			if err := fill(filler, size); err != nil {
				return err
			}
		}
		return nil
	}, func() error { return os.Remove(filler) })
}

// fill appends blocks until the disk is full.
func fill(path string, size int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	block := make([]byte, size)
	for err == nil {
		_, err = file.Write(block)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, file.Close())
}

// TestFileSizeLimit limits the size of files of this process.
func TestFileSizeLimit(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // otherwise the signal ends the process
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	var initial syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &initial); err != nil {
		t.Fatal(err)
	}
	free := func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &initial) }
	t.Cleanup(func() {
		if err := free(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	testFullDisk(t, dir, func() error {
		log, err := os.Stat(filepath.Join(dir, "whd.db-wal"))
		if err != nil {
			return err
		}
		// The limit concerns the log of go test as well, which is shorter.
		const testLog = 8 << 20
		limit := &syscall.Rlimit{Cur: max(uint64(log.Size()), testLog) + 16<<10, Max: initial.Max}
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, limit)
	}, free)
}

// testFullDisk publishes until an event is rejected for lack of space, and again when
// there is space.
func testFullDisk(t *testing.T, dir string, fill, free func() error) {
	t.Helper()
	s, err := storage.Open(context.Background(), storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	x := &simulation{testEnv: &testEnv{t: t, dir: dir, store: s}, fakeSender: newFakeSender()}
	x.policy.Schedule = []time.Duration{time.Millisecond}
	x.startEngine()
	x.subscribe("http://127.0.0.1/hook", "*")
	x.publish("debtor.updated", "before")
	if err := fill(); err != nil {
		t.Fatal(err)
	}
	accepted := 1
	accepted += x.publishUntilFull()
	accepted += x.publishWhileFull(10)
	if err := free(); err != nil {
		t.Fatal(err)
	}
	x.publishOnceFree()
	accepted++

	x.stop(testTimeout)
	x.startEngine() // repeats the interrupted attempts
	x.awaitCount("SY_WebhookMessage WHERE Status IN (0, 2)", 0)
	x.stop(testTimeout)
	x.expect("SY_WebhookMessage WHERE Status = 1", int64(accepted))
	x.checkFinalState()
}

// publishUntilFull publishes events until one is rejected, and returns how many are accepted.
func (x *simulation) publishUntilFull() int {
	x.t.Helper()
	const maxEvents = 100_000
	body := bytes.Repeat([]byte("x"), 1000)
	for accepted := range maxEvents {
		_, err := x.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: body})
		if fault.Is(err, fault.Unavailable) {
			return accepted
		}
		if err != nil {
			x.t.Fatal(err)
		}
	}
	x.t.Fatalf("%d events were accepted, want a full disk", maxEvents)
	return 0
}

// publishOnceFree publishes an event when the writer tries again.
func (x *simulation) publishOnceFree() {
	x.t.Helper()
	for end := time.Now().Add(testTimeout); ; time.Sleep(time.Millisecond) {
		_, err := x.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("after")})
		if err == nil {
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("an event is rejected %v after there is space again: %v", testTimeout, err)
		}
	}
}

// publishWhileFull publishes n events concurrently and returns how many are accepted: a
// checkpoint of the write-ahead log makes space for some. The others must be rejected as
// unavailable.
func (x *simulation) publishWhileFull(n int) int {
	x.t.Helper()
	var accepted atomic.Int64
	var publishers sync.WaitGroup
	for range n {
		publishers.Go(func() {
			_, err := x.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("full")})
			if err == nil {
				accepted.Add(1)
			} else if !fault.Is(err, fault.Unavailable) {
				x.t.Errorf("publishing returned the error %v, want Unavailable", err)
			}
		})
	}
	publishers.Wait()
	return int(accepted.Load())
}
