package service

import (
	"testing"
	"time"

	"golang.org/x/sys/windows/svc"
)

// TestExecute sends the requests of the service manager and checks the reported states.
func TestExecute(t *testing.T) {
	orders := make(chan Order, 4)
	w := &windowsService{
		order:  func(o Order) { orders <- o },
		states: make(chan svc.Status),
		exit:   make(chan uint32),
		over:   make(chan struct{}),
	}
	requests, states := make(chan svc.ChangeRequest), make(chan svc.Status, 100)
	code := make(chan uint32)
	go func() {
		_, status := w.Execute(nil, requests, states)
		code <- status
	}()
	if s := <-states; s.State != svc.StartPending || s.WaitHint == 0 || s.Accepts != 0 {
		t.Errorf("first %+v", s)
	}
	if s := <-states; s.State != svc.StartPending || s.CheckPoint != 1 { // the second progress report
		t.Errorf("during the start %+v", s)
	}
	w.states <- svc.Status{State: svc.Running, Accepts: accepted}
	for s := range states {
		if s.State == svc.Running {
			break
		}
	}
	for cmd, want := range map[svc.Cmd]Order{svc.ParamChange: Reload, svc.Stop: Stop, svc.Shutdown: Stop} {
		requests <- svc.ChangeRequest{Cmd: cmd}
		if got := <-orders; got != want {
			t.Errorf("%v: %v, want %v", cmd, got, want)
		}
	}
	requests <- svc.ChangeRequest{Cmd: svc.Interrogate, CurrentStatus: svc.Status{State: svc.Running}}
	if s := <-states; s.State != svc.Running {
		t.Errorf("interrogated: %+v", s)
	}
	w.exit <- 3
	select {
	case status := <-code:
		if status != 3 {
			t.Errorf("status %d", status)
		}
	case <-time.After(time.Minute):
		t.Error("Execute did not return")
	}
}
