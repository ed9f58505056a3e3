package webhooks

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
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// The members of a live stream.
const (
	MemberTopics      = "Topics"
	MemberLastEventID = "LastEventID" // for clients that cannot send the header
)

// streams has the handler of /Webhooks/Stream.
type streams struct {
	hub      *live.Hub
	accounts *account.Service
	stall    time.Duration // maximum time in which a reader receives nothing
	inFlight Gauge
}

// Serve sends events as they happen, until either side closes the stream.
func (h *streams) Serve(x *edge.Context) error {
	f := form.Read(x)
	usual, _ := live.ParseTopics("")
	topics := form.Or(form.Value(f, MemberTopics, live.ParseTopics), usual)
	lastID := form.Or(form.Value(f, MemberLastEventID, form.Text), "")
	if header := x.Request.Header.Get(wire.HeaderLastEventID); header != "" {
		lastID = header // a browser that reconnects repeats the member of its first request
	}
	if err := f.Done(x); err != nil {
		return err
	}
	if x.Request.Method == http.MethodHead {
		startStream(x)
		return nil
	}

	reader, err := h.hub.Open(topics, lastID)
	if errors.Is(err, live.ErrFull) {
		return &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "too many live streams; close one, or try again later",
			RetryAfter: 30 * time.Second,
		}
	}
	if err != nil {
		return edge.StoppingError()
	}
	h.inFlight.Dec() // a stream is idle most of the time
	defer h.inFlight.Inc()
	x.Response.Stall = h.stall
	startStream(x)
	reason := reader.Run(x.Request.Context(), x.Response.Push, h.accessCheck(x))
	logEnd(x, reason)
	return nil
}

// startStream sends the head of a stream. It is never compressed, and proxies are
// instructed not to buffer it.
func startStream(x *edge.Context) {
	h := x.Response.Header()
	h.Set("Content-Type", wire.MediaEventStream)
	h.Set("X-Accel-Buffering", "no")
	x.Response.WriteHeader(http.StatusOK)
}

// checkTimeout limits a check of the reader's rights, which delays the stream. It is
// shorter than the time after which clients consider a heartbeat lost.
const checkTimeout = 3 * time.Second

// accessCheck returns a check that the reader may still read the stream. Readers stay
// only while the store is unavailable: any other error ends the stream, so that it
// does not outlive a changed password.
func (h *streams) accessCheck(x *edge.Context) func(context.Context) error {
	credentials := accounts.Credentials(x)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		identity, err := h.accounts.Authenticate(ctx, credentials)
		if err == nil && !identity.Role.Includes(x.Route.Role) {
			return fault.New(fault.Forbidden, "%s now has the role %s", identity.Name, identity.Role)
		}
		isStoreAway := fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Timeout)
		if isStoreAway || errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return nil // checked again later
		}
		return err
	}
}

// logEnd logs the end of a stream. The usual cause is that the client disconnected.
func logEnd(x *edge.Context, reason error) {
	level := slog.LevelInfo
	if x.Request.Context().Err() != nil || errors.Is(reason, live.ErrClosed) {
		level = slog.LevelDebug
	}
	if errors.Is(reason, live.ErrStalled) {
		level = slog.LevelInfo
		x.Response.Aborted = true
	}
	x.Log.Log(x.Request.Context(), level, "stream ended", "id", x.ID, "user", x.Identity.Name, "reason", reason.Error())
}
