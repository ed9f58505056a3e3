package queries

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// blockedFeed is a feed in which a look lasts until the test ends it.
type blockedFeed struct {
	Feed
	started chan struct{}
	ends    chan struct{}
}

var errEnded = errors.New("ended")

func (f blockedFeed) Looked(context.Context, *record.Kind) (time.Time, error) {
	f.started <- struct{}{}
	<-f.ends
	return time.Time{}, errEnded
}

// TestFewRequestsReadChanges checks that a number of requests read changes at a time, that the
// next one waits, and that it ends with its client.
func TestFewRequestsReadChanges(t *testing.T) {
	feed := blockedFeed{started: make(chan struct{}), ends: make(chan struct{})}
	start := func(ctx context.Context) <-chan error {
		ended := make(chan error, 1)
		x := &edge.Context{Request: httptest.NewRequest("GET", "/", nil).WithContext(ctx)}
		go func() {
			_, _, _, err := read(x, feed, nil, "", 1)
			ended <- err
		}()
		return ended
	}
	var running []<-chan error
	for range cap(reading) {
		running = append(running, start(t.Context()))
		<-feed.started
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := <-start(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that waits, without its client: %v, want %v", err, context.Canceled)
	}
	next := start(t.Context())
	feed.ends <- struct{}{}
	<-feed.started // the next one
	close(feed.ends)
	for _, ended := range append(running, next) {
		if err := <-ended; !errors.Is(err, errEnded) {
			t.Errorf("a request that reads: %v, want %v", err, errEnded)
		}
	}
}
