package webhook

import (
	"net/http"
	"time"
)

// Policy is the retry schedule, and the automatic disabling of subscriptions.
type Policy struct {
	Schedule      []time.Duration // delays before the second attempt, the third, ...
	Jitter        float64         // fraction by which a delay varies either way: 0.2 is 20 %
	RetryAfterMax time.Duration   // upper bound for a receiver's Retry-After
	DisableAfter  time.Duration   // disables a subscription after only failures for this long; 0 for never
}

// MaxRetries returns the number of attempts after the first.
func (p Policy) MaxRetries() int { return len(p.Schedule) }

// Cause is the reason why an attempt got no response. Callers that only have a
// SubscriberID may see it.
type Cause string

// The causes. Responded is the cause of an attempt with a response of any status.
const (
	Responded         Cause = ""
	TimedOut          Cause = "timeout"
	ConnectionRefused Cause = "connection refused"
	ConnectionReset   Cause = "connection reset"
	NameNotFound      Cause = "name not found"
	TLSFailed         Cause = "TLS failed"
	TargetForbidden   Cause = "target not allowed"
	InvalidResponse   Cause = "invalid response"
	ProxyRefused      Cause = "refused by the proxy" // its rules forbid the connection
	NetworkFailed     Cause = "network error"
)

// OwnFailure is a failure of this machine or of the service itself, for which an endpoint is not
// charged: the attempt is not recorded. Its values are labels of metrics.
type OwnFailure string

// The own failures. A lost connection is excused once for each message, since the peer may have
// caused it.
const (
	OutOfDescriptors OwnFailure = "descriptors"
	OutOfMemory      OwnFailure = "memory"
	OutOfPorts       OwnFailure = "ports"
	NoNetwork        OwnFailure = "network"
	ConnectionLost   OwnFailure = "connection_lost"
	ProxyFailed      OwnFailure = "proxy"
)

// OwnFailures describes all own failures.
var OwnFailures = map[OwnFailure]string{
	OutOfDescriptors: "this machine is out of file descriptors",
	OutOfMemory:      "this machine is out of memory for connections",
	OutOfPorts:       "this machine has no local port left for the address",
	NoNetwork:        "this machine has no network",
	ConnectionLost:   "an HTTP/2 connection was lost",
	ProxyFailed:      "webhooks.proxy cannot be used",
}

// AffectsAll reports whether attempts at all other endpoints fail for the same reason. Without a
// network, endpoints on this machine and in its own networks can still be reached; without the
// proxy, those of webhooks.no_proxy.
func (f OwnFailure) AffectsAll() bool { return f == OutOfDescriptors || f == OutOfMemory }

// MaxResponseText is the maximum size of the beginning of a response body that is stored with
// an attempt, in bytes.
const MaxResponseText = 4 << 10

// Outcome is the result of one attempt.
type Outcome struct {
	Code       int           // status code, 0 without a response
	Cause      Cause         // why there was no response
	Detail     string        // the error message, for administrators
	Own        OwnFailure    // why the attempt is not charged to the endpoint; empty if it is
	Text       []byte        // beginning of the response body, see MaxResponseText; for administrators
	RetryAfter time.Duration // requested by the receiver, 0 for none
	Disable    bool          // the receiver requested that the subscription is disabled
	Abort      bool          // the receiver requested that this message is given up
	Began      time.Time
	Took       time.Duration
}

// Success reports whether the receiver accepted the message.
func (o Outcome) Success() bool { return o.Code >= 200 && o.Code <= 299 }

// Permanent reports whether a retry is pointless.
func (o Outcome) Permanent() bool {
	return o.Abort || o.Disable || o.Code == http.StatusGone || o.Cause == TargetForbidden
}

// Disables reports whether the attempt disables the subscription.
func (o Outcome) Disables() bool { return o.Disable || o.Code == http.StatusGone }

// EndpointFailure reports whether the failure concerns the whole endpoint. Other 4xx
// codes and redirects concern a single message or a setting.
func (o Outcome) EndpointFailure() bool {
	switch o.Code {
	case 0:
		return o.Cause != TargetForbidden
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return o.Code >= 500
}

// Reason describes the outcome. Callers that only have a SubscriberID may see it.
func (o Outcome) Reason() string {
	if o.Cause != Responded {
		return string(o.Cause)
	}
	if text := http.StatusText(o.Code); text != "" {
		return text
	}
	return "unknown status"
}

// Decide returns the state of a message after an attempt. A success ends it. A failure
// schedules a retry at the delay of the policy, or later if the receiver requested
// that; after the last retry the message has failed. spread, from 0 to 1, selects the
// jitter. The attempt of a replay ends it even if it fails: the message was delivered before.
func Decide(before State, o Outcome, p Policy, now time.Time, spread float64) State {
	after := State{Attempts: before.Attempts + 1}
	if before.Replay {
		after.Status = Successful
		return after
	}
	switch {
	case o.Success():
		after.Status = Successful
	case o.Permanent() || after.Attempts > p.MaxRetries():
		after.Status = Failed
	default:
		after.Status = RetryPending
		after.Next = now.Add(p.delay(after.Attempts, o.RetryAfter, spread))
	}
	return after
}

// delay returns the time until the next attempt, after the given number of attempts. The schedule
// has a delay for it, or else the message would have failed.
func (p Policy) delay(attempts int, requested time.Duration, spread float64) time.Duration {
	base := p.Schedule[attempts-1]
	delay := base + time.Duration(float64(base)*p.Jitter*(2*spread-1))
	return max(delay, min(requested, p.RetryAfterMax))
}

// AttemptResult is an attempt, its URL, and the message's state after it.
type AttemptResult struct {
	Message   *Message
	URL       string
	After     State
	Postponed bool // Retry-After moves the next attempt to later than by the schedule
	Outcome
}

// Retention limits how long finished messages are kept. 0 is forever.
type Retention struct {
	Successful time.Duration // since delivery
	Failed     time.Duration // since the final failure
	TextSize   int64         // limit of all response bodies together, in bytes; 0 for no limit
}
