package account

import (
	"context"

	"github.com/bizhook/whd/daemon/fault"
)

// checked is what came of a check that several callers may share.
type checked struct {
	user      *User
	err       error
	abandoned bool // its caller went away, which says nothing about the others
	panicked  any
}

// shared runs check, or waits for the one of the same name that is running: a
// client that opens many connections at once with the same password neither pays
// for each nor runs into the throttle.
func (s *Service) shared(ctx context.Context, name print, check func() (*User, error)) (*User, error) {
	for {
		mine := false
		done := s.flights.DoChan(string(name[:]), func() (any, error) {
			mine = true
			c := checked{abandoned: true}
			func() {
				defer func() { c.panicked = recover() }() // the program would end: this goroutine is no request's
				c.user, c.err = check()
				c.abandoned = c.err != nil && ctx.Err() != nil
			}()
			return c, nil
		})
		select {
		case r := <-done:
			c := r.Val.(checked)
			if mine && c.panicked != nil {
				panic(c.panicked)
			}
			if mine || !c.abandoned {
				return c.user, c.err
			}
		case <-ctx.Done():
			return nil, fault.Because(ctx.Err(), fault.Unavailable, "the request ended before its password was checked")
		}
	}
}
