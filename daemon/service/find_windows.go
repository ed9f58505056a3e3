package service

import (
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
)

func find(_ []string, order func(Order)) (manager, error) {
	if is, err := svc.IsWindowsService(); err != nil || !is {
		return unsupervised{}, err
	}
	log, err := eventlog.Open(Name)
	if err != nil {
		return unsupervised{}, fmt.Errorf("opening the event log: %w", err)
	}
	w := &windowsService{order: order, events: log, states: make(chan svc.Status), exit: make(chan uint32), over: make(chan struct{})}
	go func() {
		defer close(w.over)
		if err := svc.Run(Name, w); err != nil {
			_ = log.Error(eventID, "the service manager does not take this program for its service: "+err.Error())
			order(Stop)
		}
	}()
	return w, nil
}

// windowsService speaks with the service manager of Windows.
type windowsService struct {
	unsupervised
	order  func(Order)
	events *eventlog.Log
	states chan svc.Status
	exit   chan uint32
	over   chan struct{} // closed when the service manager listens no longer
}

// eventID is that of every entry: the source of events has the text of Windows
// that stands for "what follows".
const eventID = 1

// step is how often the service manager hears that starting and stopping go on.
const step = 2 * time.Second

// accepted are the orders that a service that runs takes.
const accepted = svc.AcceptStop | svc.AcceptShutdown | svc.AcceptParamChange

// Execute is svc.Handler's: it passes orders and states on until the service ends.
func (w *windowsService) Execute(_ []string, requests <-chan svc.ChangeRequest, states chan<- svc.Status) (bool, uint32) {
	is := svc.Status{State: svc.StartPending, WaitHint: uint32((2 * step).Milliseconds())}
	states <- is
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case r := <-requests:
			w.take(r, states)
		case is = <-w.states:
			states <- is
		case <-ticker.C:
			if is.State != svc.Running {
				is.CheckPoint++
				states <- is
			}
		case code := <-w.exit:
			return code != 0, code
		}
	}
}

func (w *windowsService) take(r svc.ChangeRequest, states chan<- svc.Status) {
	switch r.Cmd {
	case svc.Interrogate:
		states <- r.CurrentStatus
	case svc.Stop, svc.Shutdown:
		w.order(Stop)
	case svc.ParamChange:
		w.order(Reload)
	}
}

func (w *windowsService) tell(what state, _ time.Duration, how string) error {
	is := svc.Status{State: svc.Running, Accepts: accepted}
	if what == stopping {
		is = svc.Status{State: svc.StopPending, WaitHint: uint32((2 * step).Milliseconds())}
	}
	select {
	case w.states <- is:
	case <-w.over:
	}
	return w.events.Info(eventID, Name+" "+how)
}

func (w *windowsService) keep(slog.Handler) slog.Handler { return newEventHandler(w.events) }

// end waits until the service manager knows, since the process ends then.
func (w *windowsService) end(status int, err error) {
	if err != nil {
		_ = w.events.Error(eventID, Name+" has failed: "+err.Error())
	}
	select {
	case w.exit <- uint32(status):
		<-w.over
	case <-w.over:
	}
}
