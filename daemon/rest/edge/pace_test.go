package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

// TestAnonymousResponsesArePaced checks that complete responses to GET requests without valid
// credentials are sent one after another at the rate for all of them, and that others do not wait.
func TestAnonymousResponsesArePaced(t *testing.T) {
	const (
		size      = 1 << 20
		responses = maxPacedOfClient / size
	)
	for _, tt := range []struct {
		name   string
		method string
		size   int
		known  bool
		kept   bool
		took   time.Duration
	}{
		{
			name:   "anonymous",
			method: "GET",
			size:   size,
			took:   (responses*size - anonymousBurst) * time.Second / anonymousRate,
		},
		{name: "anonymous, short", method: "GET", size: replyFree},
		{name: "anonymous, without a body", method: "HEAD", size: size},
		{name: "anonymous change", method: "POST", size: size},
		{name: "with credentials", method: "GET", size: size, known: true},
		{name: "part of a request", method: "GET", size: size, kept: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := NewAdmission(1, NewReplies(0), nil)
			start := time.Now()
			var all sync.WaitGroup
			for range responses {
				x := &Context{
					Request:  httptest.NewRequestWithContext(t.Context(), tt.method, "/", nil),
					Response: NewResponse(nil, 0),
					Origin:   Origin{Address: "192.0.2.1"},
				}
				x.Response.Kept = tt.kept
				if tt.known {
					x.Identity.AuthMethod = account.Bearer
				}
				all.Go(func() {
					if err := a.pace(x, tt.size); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if took := time.Since(start).Round(10 * time.Millisecond); took != tt.took.Round(10*time.Millisecond) {
				t.Errorf("%s: %d responses of %d bytes within %v, want %v",
					tt.name, responses, tt.size, took, tt.took)
			}
		})
	}
}

// TestWaitForThePaceIsBounded checks that one network cannot keep out another one, and that all
// that wait are sent within the time for maxPaced.
func TestWaitForThePaceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace()
		var refused atomic.Int64
		var all sync.WaitGroup
		start := time.Now()
		for network := range 20 {
			for range 2 * maxPacedOfClient / anonymousBurst {
				address := fmt.Sprintf("192.0.2.%d:%d", network, 40000)
				all.Go(func() {
					if err := p.wait(t.Context(), address, anonymousBurst); fault.Is(err, fault.Unavailable) {
						refused.Add(1)
					} else if err != nil {
						t.Error(err)
					}
				})
			}
			if network == 0 {
				synctest.Wait()
				n := refused.Load()
				if n != maxPacedOfClient/anonymousBurst-1 { // the first one was sent at once
					t.Errorf("%d responses to the first network were refused", n)
				}
			}
		}

		all.Wait()
		if took := time.Since(start); took > maxPaced*time.Second/anonymousRate {
			t.Errorf("the last response waited for %v", took)
		}
		if p.waiting != 0 || len(p.networks) > 0 {
			t.Errorf("%d bytes of %d networks still wait", p.waiting, len(p.networks))
		}
	})
}

// TestPaceOfAClientThatLeft checks that a client that leaves while it waits does not delay others.
func TestPaceOfAClientThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace()
		leaving, leave := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.wait(leaving, "192.0.2.1", 60*anonymousRate) }()
		time.Sleep(time.Second)
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the client that left: %v, want %v", err, context.Canceled)
		}
		start := time.Now()
		if err := p.wait(t.Context(), "192.0.2.2", anonymousBurst); err != nil || time.Since(start) > time.Second {
			t.Errorf("the next client waited for %v (%v), want at most a second", time.Since(start), err)
		}
	})
}
