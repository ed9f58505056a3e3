// Package service makes a program a service: of systemd, or of the service manager
// of Windows. It tells them how the service is, and takes their orders.
package service

import (
	"context"
	"log/slog"
	"time"
)

// Name is what the service is called wherever it is installed.
const Name = "whd"

// Order is what a supervisor wants of the service.
type Order int

// The orders. Those of systemd come as signals.
const (
	Stop Order = iota
	Reload
)

// Supervisor is who has started the program and looks after it, if anybody has.
// Its methods may be called by several goroutines.
type Supervisor struct {
	log     *slog.Logger
	manager manager
	orders  chan Order
}

// manager is a kind of supervisor.
type manager interface {
	tell(state, time.Duration, string) error
	watchdog() time.Duration // how often it wants to hear that the service lives; 0: never
	keep(slog.Handler) slog.Handler
	end(status int, err error)
}

// state is what a supervisor can be told of the service.
type state int

const (
	ready state = iota
	reloading
	stopping
	living
)

// unsupervised is the manager of a program that a person has started. Others
// embed it for what they have no need of.
type unsupervised struct{}

func (unsupervised) tell(state, time.Duration, string) error { return nil }
func (unsupervised) watchdog() time.Duration                 { return 0 }
func (unsupervised) keep(h slog.Handler) slog.Handler        { return h }
func (unsupervised) end(int, error)                          {}

// Find finds out who has started the program, whose environment is as os.Environ
// gives it.
func Find(env []string) (*Supervisor, error) {
	s := &Supervisor{log: slog.New(slog.DiscardHandler), orders: make(chan Order, 2)}
	found, err := find(env, s.order)
	s.manager = found
	return s, err
}

// order hands an order on, for one goroutine. There is room for one to reload and
// one to stop; whatever else comes says the same.
func (s *Supervisor) order(o Order) {
	if o == Reload && len(s.orders) > 0 {
		return
	}
	select {
	case s.orders <- o:
	default:
	}
}

// Orders delivers what the supervisor wants.
func (s *Supervisor) Orders() <-chan Order { return s.orders }

// Log is a log of the service's own, written by h where the supervisor keeps what
// comes on standard error. What goes wrong between the two is logged there, too.
func (s *Supervisor) Log(h slog.Handler) *slog.Logger {
	s.log = slog.New(s.manager.keep(h))
	return s.log
}

// Ready says that the service does its work, with a few words on how.
func (s *Supervisor) Ready(how string) { s.tell(ready, 0, how) }

// Reloading says that the service reads its settings again, until Ready.
func (s *Supervisor) Reloading() { s.tell(reloading, 0, "reads its settings again") }

// Stopping says that the service ends, within a time.
func (s *Supervisor) Stopping(within time.Duration) { s.tell(stopping, within, "stops") }

// End says that the service has ended, with the status of the program, and with an
// error if it has failed.
func (s *Supervisor) End(status int, err error) { s.manager.end(status, err) }

func (s *Supervisor) tell(what state, within time.Duration, how string) {
	if err := s.manager.tell(what, within, how); err != nil {
		s.log.Warn("the service manager cannot be told how the service is", "error", err.Error())
	}
}

// Watch tells the supervisor that the service lives for as long as answers says
// so, until ctx ends. A service that does not answer in time is started anew.
func (s *Supervisor) Watch(ctx context.Context, answers func(context.Context) error) {
	every := s.manager.watchdog() / 2
	if every == 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		within, cancel := context.WithTimeout(ctx, every)
		err := answers(within)
		cancel()
		if err == nil {
			s.tell(living, 0, "")
		} else if ctx.Err() == nil {
			s.log.Error("the service does not answer itself; the service manager will start it anew", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
