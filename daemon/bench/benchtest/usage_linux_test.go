package benchtest

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestMemoryOfEndedProcess checks that a process which has ended has no memory of 0, which would be
// within every limit. It is a zombie until it is waited for.
func TestMemoryOfEndedProcess(t *testing.T) {
	now, peak, err := Memory(os.Getpid())
	if err != nil || now <= 0 || peak < now/2 {
		t.Fatalf("the memory of this process: got %v, peak %v (%v), want both", now, peak, err)
	}
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		now, _, err := Memory(cmd.Process.Pid)
		if err != nil {
			return
		}
		if now == 0 || time.Now().After(deadline) {
			t.Fatalf("the memory of a process that has ended: got %v, want an error", now)
		}
	}
}
