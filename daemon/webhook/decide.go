package webhook

import (
	"net/http"
	"time"
)

// Policy is how failures are dealt with.
type Policy struct {
	Schedule      []time.Duration // waits before the second attempt, the third, ...
	Jitter        float64         // 0.2 spreads each wait by 20 % either way
	RetryAfterMax time.Duration   // the longest wait that a receiver may ask for
	DisableAfter  time.Duration   // nothing but failures for so long disable a subscription; 0 for never
}

// MaxRetries is the number of attempts after the first.
func (p Policy) MaxRetries() int { return len(p.Schedule) }

// Cause is why an attempt had no answer, in words that a SubscriberID alone may
// see.
type Cause string

// The causes. An attempt with an answer has none.
const (
	Answered          Cause = ""
	TimedOut          Cause = "timeout"
	ConnectionRefused Cause = "connection refused"
	ConnectionReset   Cause = "connection reset"
	NameNotFound      Cause = "name not found"
	TLSFailed         Cause = "TLS failed"
	TargetForbidden   Cause = "target not allowed"
	BadAnswer         Cause = "answer is no HTTP"
	NetworkFailed     Cause = "network error"
)

// Outcome is what came of one attempt.
type Outcome struct {
	Code       int           // of the answer, 0 where none came
	Cause      Cause         // why none came
	Detail     string        // for admins: the error in words
	Text       []byte        // for admins: the beginning of the answer
	RetryAfter time.Duration // that the receiver asked for, 0 for none
	Disable    bool          // the receiver asked to disable the subscription
	Abort      bool          // the receiver asked to give this message up
	Began      time.Time
	Took       time.Duration
}

// Success reports whether the receiver took the message.
func (o Outcome) Success() bool { return o.Code >= 200 && o.Code <= 299 }

// Permanent reports whether another attempt cannot help.
func (o Outcome) Permanent() bool {
	return o.Abort || o.Disable || o.Code == http.StatusGone || o.Cause == TargetForbidden
}

// Disables reports whether the subscription ends with this attempt.
func (o Outcome) Disables() bool { return o.Disable || o.Code == http.StatusGone }

// Broken reports whether the endpoint as a whole is in trouble. Other answers of
// 4xx, and redirects, speak of one message or one setting.
func (o Outcome) Broken() bool {
	switch o.Code {
	case 0:
		return o.Cause != TargetForbidden
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return o.Code >= 500
}

// Reason is the outcome in words that a SubscriberID alone may see.
func (o Outcome) Reason() string {
	if o.Cause != Answered {
		return string(o.Cause)
	}
	if text := http.StatusText(o.Code); text != "" {
		return text
	}
	return "unknown status"
}

// Decide says what becomes of a message by an attempt: success ends it, a
// failure waits as the schedule says, longer where the receiver asked for it,
// and the last failure ends it too. spread, from 0 to 1, picks the jitter.
func Decide(was State, o Outcome, p Policy, now time.Time, spread float64) State {
	is := State{Attempts: was.Attempts + 1}
	switch {
	case o.Success():
		is.Status = Successful
	case o.Permanent() || is.Attempts > p.MaxRetries():
		is.Status = Failed
	default:
		is.Status = RetryPending
		is.Next = now.Add(p.wait(is.Attempts, o.RetryAfter, spread))
	}
	return is
}

// wait is the time before the next attempt, after so many.
func (p Policy) wait(attempts int, asked time.Duration, spread float64) time.Duration {
	base := p.Schedule[attempts-1]
	wait := base + time.Duration(float64(base)*p.Jitter*(2*spread-1))
	return max(wait, min(asked, p.RetryAfterMax))
}

// AttemptResult is an attempt and what became of the message by it.
type AttemptResult struct {
	Message *Message
	After   State
	Outcome
}

// Retention is how long messages are kept that no attempt follows for. 0 is for
// ever.
type Retention struct {
	Successful time.Duration // since they were delivered
	Failed     time.Duration // since they failed for good
	TextSize   int64         // of all answers together, in bytes; 0 is no limit
}
