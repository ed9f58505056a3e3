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
	requests := make(chan svc.ChangeRequest)
	states := make(chan svc.Status, 100)
	code := make(chan uint32)
	go func() {
		_, status := w.Execute(nil, requests, states)
		code <- status
	}()
	first := <-states
	if first.State != svc.StartPending || first.WaitHint == 0 || first.Accepts != 0 {
		t.Errorf("first %+v, want StartPending with a wait hint that accepts nothing", first)
	}
	second := <-states // a report of progress
	if second.State != svc.StartPending || second.CheckPoint != 1 {
		t.Errorf("during the start %+v, want StartPending with the checkpoint 1", second)
	}
	w.states <- svc.Status{State: svc.Running, Accepts: accepted}
	for s := range states {
		if s.State == svc.Running {
			break
		}
	}
	for cmd, want := range map[svc.Cmd]Order{
		svc.ParamChange: Reload,
		svc.Stop:        Stop,
		svc.Shutdown:    Stop,
	} {
		requests <- svc.ChangeRequest{Cmd: cmd}
		if got := <-orders; got != want {
			t.Errorf("%v: %v, want %v", cmd, got, want)
		}
	}
	running := svc.Status{State: svc.Running}
	requests <- svc.ChangeRequest{Cmd: svc.Interrogate, CurrentStatus: running}
	if s := <-states; s.State != svc.Running {
		t.Errorf("interrogated: %+v, want Running", s)
	}
	w.exit <- 3
	select {
	case status := <-code:
		if status != 3 {
			t.Errorf("status %d, want 3", status)
		}
	case <-time.After(time.Minute):
		t.Error("Execute did not return")
	}
}
