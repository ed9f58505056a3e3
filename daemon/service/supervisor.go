// Package service runs and installs the program as a service of systemd or Windows. It
// reports the service's state to the service manager and receives its orders.
package service

import (
	"context"
	"log/slog"
	"time"
)

// Name is the name of the service.
const Name = "whd"

// Order is a request of the service manager.
type Order int

// The orders. systemd sends signals instead.
const (
	Stop Order = iota
	Reload
)

// Supervisor is the connection to the service manager that started the program. It does
// nothing if there is none. Its methods are safe for concurrent use.
type Supervisor struct {
	log     *slog.Logger
	manager manager
	orders  chan Order
}

// manager is a kind of service manager.
type manager interface {
	notify(s state, within time.Duration, status string) error
	watchdog() time.Duration // interval in which it expects watchdog notifications; 0: none
	logHandler(slog.Handler) slog.Handler
	end(status int, err error)
}

// state is a state of the service.
type state int

const (
	ready state = iota
	reloading
	stopping
	living
)

// unsupervised is the manager of a program that was not started by a service manager.
// Others embed it for methods that they do not need.
type unsupervised struct{}

func (unsupervised) notify(state, time.Duration, string) error { return nil }
func (unsupervised) watchdog() time.Duration                   { return 0 }
func (unsupervised) logHandler(h slog.Handler) slog.Handler    { return h }
func (unsupervised) end(int, error)                            {}

// Find detects the service manager that started the program. env has the form of
// os.Environ.
func Find(env []string) (*Supervisor, error) {
	s := &Supervisor{log: slog.New(slog.DiscardHandler), orders: make(chan Order, 2)}
	found, err := find(env, s.order)
	s.manager = found
	return s, err
}

// Managed reports whether a service manager started the program.
func (s *Supervisor) Managed() bool { return s.manager != unsupervised{} }

// order queues an order. The queue has room for one reload and one stop; further orders
// are duplicates and dropped.
func (s *Supervisor) order(o Order) {
	if o == Reload && len(s.orders) > 0 {
		return
	}
	select {
	case s.orders <- o:
	default:
	}
}

// Orders returns the orders of the service manager.
func (s *Supervisor) Orders() <-chan Order { return s.orders }

// Log returns the service's log, which is written by h, or to the event log of Windows.
// The Supervisor logs its own errors there, too.
func (s *Supervisor) Log(h slog.Handler) *slog.Logger {
	s.log = slog.New(s.manager.logHandler(h))
	return s.log
}

// Ready reports that the service is running, with a status text.
func (s *Supervisor) Ready(status string) { s.notify(ready, 0, status) }

// Reloading reports that the service is reloading its settings, until Ready.
func (s *Supervisor) Reloading() { s.notify(reloading, 0, "reloading its settings") }

// Stopping reports that the service is stopping, and will have stopped within a time.
func (s *Supervisor) Stopping(within time.Duration) { s.notify(stopping, within, "stopping") }

// End reports that the service has ended, with the exit status of the program, and an
// error if it failed.
func (s *Supervisor) End(status int, err error) { s.manager.end(status, err) }

func (s *Supervisor) notify(current state, within time.Duration, status string) {
	if err := s.manager.notify(current, within, status); err != nil {
		s.log.Warn("cannot notify the service manager", "error", err.Error())
	}
}

// Watch sends watchdog notifications to the service manager while check succeeds, until ctx is
// done. The service manager restarts a service without watchdog notifications.
func (s *Supervisor) Watch(ctx context.Context, check func(context.Context) error) {
	every := s.manager.watchdog() / 2
	if every == 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		within, cancel := context.WithTimeout(ctx, every)
		err := check(within)
		cancel()
		if err == nil {
			s.notify(living, 0, "")
		} else if ctx.Err() == nil {
			s.log.Error("the health check failed; the service manager will restart the service",
				"error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
