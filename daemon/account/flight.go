package account

import (
	"context"
	"sync"

	"github.com/bizhook/whd/daemon/fault"
)

// flights let those who bring the same password at the same moment share one
// check: a client that opens many connections at once neither pays for each
// nor runs into the throttle.
type flights struct {
	mu  sync.Mutex
	now map[print]*flight
}

type flight struct {
	landed    chan struct{}
	user      *User
	err       error
	abandoned bool // the one who checked went away, which says nothing to the others
}

func newFlights() *flights { return &flights{now: make(map[print]*flight)} }

// do runs check, or waits for the one of the same name that is running.
func (f *flights) do(ctx context.Context, name print, check func() (*User, error)) (*User, error) {
	for {
		fl, mine := f.join(name)
		if mine {
			defer f.land(name, fl)
			fl.user, fl.err = check()
			fl.abandoned = fl.err != nil && ctx.Err() != nil
			return fl.user, fl.err
		}
		select {
		case <-fl.landed:
		case <-ctx.Done():
			return nil, fault.Because(ctx.Err(), fault.Unavailable, "the request ended before its password was checked")
		}
		if !fl.abandoned {
			return fl.user, fl.err
		}
	}
}

func (f *flights) join(name print) (fl *flight, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl = f.now[name]; fl != nil {
		return fl, false
	}
	fl = &flight{landed: make(chan struct{}), abandoned: true} // should check panic
	f.now[name] = fl
	return fl, true
}

func (f *flights) land(name print, fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.now, name)
	close(fl.landed)
}
