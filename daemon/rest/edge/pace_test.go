package edge

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/account"
)

// TestAnonymousResponsesArePaced checks that complete responses to requests without valid
// credentials are sent one after another at the rate for all of them, and that others do not wait.
func TestAnonymousResponsesArePaced(t *testing.T) {
	const (
		size      = 1 << 20
		responses = 64
	)
	for _, tt := range []struct {
		name  string
		size  int
		known bool
		kept  bool
		least time.Duration
	}{
		{name: "anonymous", size: size, least: (responses*size - anonymousBurst) * time.Second / anonymousRate},
		{name: "anonymous, short", size: replyFree},
		{name: "with credentials", size: size, known: true},
		{name: "part of a request", size: size, kept: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := NewAdmission(1, NewReplies(0), nil)
			start := time.Now()
			var all sync.WaitGroup
			for range responses {
				x := &Context{Request: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), Response: NewResponse(nil, 0)}
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
			if took := time.Since(start).Round(10 * time.Millisecond); took != tt.least.Round(10*time.Millisecond) {
				t.Errorf("%s: %d responses of %d bytes within %v, want %v", tt.name, responses, tt.size, took, tt.least)
			}
		})
	}
}

// TestPaceOfAClientThatLeft checks that a client that leaves while it waits does not delay others.
func TestPaceOfAClientThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace()
		leaving, leave := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.wait(leaving, 60*anonymousRate) }()
		time.Sleep(time.Second)
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the client that left: %v, want %v", err, context.Canceled)
		}
		start := time.Now()
		if err := p.wait(t.Context(), anonymousBurst); err != nil || time.Since(start) > time.Second {
			t.Errorf("the next client waited for %v (%v), want at most a second", time.Since(start), err)
		}
	})
}
