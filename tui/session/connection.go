package session

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/ui"
)

// Connection is the state of the connection to the service. It is live only if a heartbeat
// arrived within ui.HeartbeatLimit.
type Connection struct {
	session      int           // number of the current stream
	beat         time.Time     // time of the last heartbeat
	lostErr      error         // why the stream is disconnected
	lostAt       time.Time     // time of the last disconnect
	retryAt      time.Time     // time of the next attempt to connect
	rejectedErr  error         // why the service rejected the stream
	lastResponse time.Time     // time of the last response
	requestErr   error         // error of the last request that got no response
	listErr      error         // error of the last request that the service did not answer; nil after an answer
	lastAnswer   time.Time     // time of the last answer to a request
	rejection    error         // why the service rejected the credentials; nil if signed in
	offset       time.Duration // difference between the clock of the service and the local clock
	paused       bool
	missed       int // number of changes while paused
}

// addBatch updates the state from a batch of events.
func (c *Connection) addBatch(m LiveMsg, now time.Time) {
	if m.Connected {
		c.lostErr = nil
		c.rejection = nil
	}
	if m.Beat { // rejection stays: a stream can outlive its session for a moment
		c.beat = now
		c.lastResponse = now
		c.lostErr = nil
		c.requestErr = nil
		c.offset = m.ServerOffset
	}
	if m.Lost != nil {
		c.lostErr = m.Lost
		c.lostAt = now
		c.retryAt = now.Add(m.Retry)
		c.beat = time.Time{}
	}
	if m.Final != nil {
		c.rejectedErr = m.Final
		c.beat = time.Time{}
		if ui.SignedOut(m.Final) {
			c.rejection = cmp.Or(c.rejection, m.Final)
		}
	}
	if c.paused {
		c.missed += len(m.Changes) + m.Requests
	}
}

// addOutcome updates the state from the outcome of a request.
func (c *Connection) addOutcome(err error, now time.Time) {
	if hasFailed(err) {
		c.listErr = err
	} else if !client.Is(err, client.Cancelled) {
		c.listErr = nil
		c.lastAnswer = now
	}
	switch {
	case ui.SignedOut(err):
		c.rejection = err
		c.lastResponse = now
		c.requestErr = nil
	case hasNoResponse(err):
		c.requestErr = err
	case err == nil:
		c.lastResponse = now
		c.requestErr = nil
		c.rejection = nil
	}
}

// maxClockDifference is the clock difference that is not shown.
const maxClockDifference = 2 * time.Second

// ClockDifference formats the difference between the clocks, "" if it is small.
func (c *Connection) ClockDifference() string {
	if c.offset > maxClockDifference {
		return " +" + ui.Age(c.offset) + " service"
	}
	if c.offset < -maxClockDifference {
		return " -" + ui.Age(-c.offset) + " service"
	}
	return ""
}

// IsConnectionError reports whether an error is a connection or sign-in error.
func IsConnectionError(err error) bool {
	return ui.SignedOut(err) || hasNoResponse(err)
}

// hasNoResponse reports whether a request failed without a response of the service.
func hasNoResponse(err error) bool {
	return client.Is(err, client.Unreachable) || client.Is(err, client.TimedOut)
}

// hasFailed reports whether a request failed because of the service or the connection to it.
func hasFailed(err error) bool {
	answer, ok := errors.AsType[*client.Error](err)
	return hasNoResponse(err) || ok && answer.Status >= http.StatusInternalServerError
}

// IsHealthy reports whether the last request was successful.
func (c *Connection) IsHealthy() bool {
	return !c.SignedOut() && c.requestErr == nil && !c.lastResponse.IsZero()
}

// IsLive reports whether the stream keeps the screen up to date.
func (c *Connection) IsLive(now time.Time) bool {
	return !c.beat.IsZero() && now.Sub(c.beat) < ui.HeartbeatLimit && c.lostErr == nil
}

// ShouldPoll reports whether the screens have to poll, because there is no live stream, or because
// their last request failed.
func (c *Connection) ShouldPoll(now time.Time) bool {
	return !c.paused && !c.SignedOut() && (!c.IsLive(now) || c.listErr != nil)
}

// IsOffline reports whether the service is unreachable.
func (c *Connection) IsOffline(now time.Time) bool { return !c.IsLive(now) && c.requestErr != nil }

// LastResponse returns the time of the last response, and the error of a later request that
// got none.
func (c *Connection) LastResponse() (time.Time, error) { return c.lastResponse, c.requestErr }

// SignedOut reports whether the session has expired.
func (c *Connection) SignedOut() bool { return c.rejection != nil }

// CanReconnect reports whether the stream is waiting to reconnect although the service responds
// again.
func (c *Connection) CanReconnect(now time.Time) bool {
	isWaiting := c.lostErr != nil && c.retryAt.After(now)
	return isWaiting && c.requestErr == nil && c.lastResponse.After(c.lostAt)
}

// staleLabel returns the age of the screen next to a live stream: that of the last answer.
func (c *Connection) staleLabel(now time.Time) string {
	if c.lastAnswer.IsZero() {
		return "STALE"
	}
	return "STALE " + ui.Age(now.Sub(c.lastAnswer))
}

// Label returns the connection state for the header.
func (c *Connection) Label(now time.Time) string {
	switch {
	case c.SignedOut():
		return "SIGN IN"
	case c.paused:
		return fmt.Sprintf("PAUSED +%d", c.missed)
	case c.IsLive(now) && c.listErr != nil:
		return c.staleLabel(now)
	case c.IsLive(now):
		return "LIVE"
	case c.requestErr != nil && c.retryAt.After(now):
		return "OFFLINE retry in " + ui.Age(c.retryAt.Sub(now)+time.Second-1)
	case c.requestErr != nil:
		return "OFFLINE"
	case !c.beat.IsZero():
		return "STALE " + ui.Age(now.Sub(c.beat))
	case c.lastResponse.IsZero():
		return "CONNECTING"
	case now.Sub(c.lastResponse) > 5*ui.PollInterval:
		return "STALE " + ui.Age(now.Sub(c.lastResponse))
	}
	return "POLL " + ui.Age(ui.PollInterval)
}
