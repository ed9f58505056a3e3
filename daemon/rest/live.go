package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/prometheus/client_golang/prometheus"
)

// The members of a live stream.
const (
	memberTopics      = "Topics"
	memberLastEventID = "LastEventID" // for those who cannot send the header
)

// streams are the handlers of /Webhooks/Stream.
type streams struct {
	hub      *live.Hub
	accounts *account.Service
	stall    time.Duration // how long a reader may take no byte
	inWork   prometheus.Gauge
}

// serve answers with events as they happen, until one of the two sides has
// enough.
func (h *streams) serve(x *edge.Context) error {
	f := readForm(x)
	usual, _ := live.ParseTopics("")
	topics, lastID := or(read(f, memberTopics, live.ParseTopics), usual), or(read(f, memberLastEventID, asText), "")
	if header := x.Request.Header.Get(wire.HeaderLastEventID); header != "" {
		lastID = header // a browser that was cut off adds it to the address that it had before
	}
	if err := f.done(x); err != nil {
		return err
	}
	if x.Request.Method == http.MethodHead {
		beginLive(x)
		return nil
	}
	reader, err := h.hub.Open(topics, lastID)
	if errors.Is(err, live.ErrFull) {
		return &fault.Error{Kind: fault.Unavailable, Message: "there are as many live streams as there may be; end one, or come back later", RetryAfter: 30 * time.Second}
	} else if err != nil {
		return edge.StoppingError()
	}
	h.inWork.Dec() // it waits for most of its time
	defer h.inWork.Inc()
	x.Response.Stall = h.stall
	beginLive(x)
	noteEnd(x, reader.Run(x.Request.Context(), x.Response.Push, h.mayStay(x)))
	return nil
}

// beginLive sends the head of a stream. It is never compressed, and proxies are
// asked to pass on each piece at once.
func beginLive(x *edge.Context) {
	h := x.Response.Header()
	h.Set("Content-Type", wire.MediaEventStream)
	h.Set("X-Accel-Buffering", "no")
	x.Response.WriteHeader(http.StatusOK)
}

// checkTimeout is how long a look at the right to read may take, which holds the
// stream up. It is less than a client waits for a heartbeat that is late.
const checkTimeout = 3 * time.Second

// mayStay looks whether who reads a stream may still do so. Only where the store
// cannot say do they stay: whoever is refused is, whatever for, lest failed logins
// keep a stream open whose password has changed.
func (h *streams) mayStay(x *edge.Context) func(context.Context) error {
	given := credentials(x)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		who, err := h.accounts.Authenticate(ctx, given)
		switch {
		case err == nil && !who.Role.Includes(x.Route.Role):
			return fault.New(fault.Forbidden, "%s has the role %s by now", who.Name, who.Role)
		case fault.Is(err, fault.Unavailable), fault.Is(err, fault.Timeout), errors.Is(err, context.Canceled), ctx.Err() != nil:
			return nil
		}
		return err
	}
}

// noteEnd says why a stream is over. Most are because their clients have gone.
func noteEnd(x *edge.Context, why error) {
	level := slog.LevelInfo
	if x.Request.Context().Err() != nil || errors.Is(why, live.ErrClosed) {
		level = slog.LevelDebug
	}
	if errors.Is(why, live.ErrStalled) {
		level, x.Response.Aborted = slog.LevelInfo, true
	}
	x.Log.Log(x.Request.Context(), level, "stream ended", "id", x.ID, "user", x.Identity.Name, "reason", why.Error())
}
