// Package stats counts what deliveries come to: totals since the start, figures by
// the minute for all and for each subscription, and what is open.
package stats

import (
	"net/http"

	"github.com/bizhook/whd/daemon/webhook"
)

// Counts are totals since the engine's start.
type Counts struct {
	Events    int64 // stored
	Messages  int64 // made of them
	Delivered int64 // attempts that the receiver took
	Failed    int64 // attempts that failed, and are made again
	GivenUp   int64 // messages that failed for good
	Disabled  int64 // subscriptions disabled by the service
	Refused   int64 // events that could not be stored
	Removed   int64 // messages and idempotency keys, since nobody needs them any more
}

// Depth is what an engine has in hand now.
type Depth struct {
	Waiting   int // events that wait to be stored
	Unsaved   int // outcomes that wait to be stored
	Underway  int // attempts
	InMemory  int // messages that wait for an attempt
	Troubled  int // lanes whose endpoint is in trouble
	Lanes     int
	Partition int // leased
}

// classNames are what can come of an attempt, as the figures tell it apart.
var classNames = [...]string{"ok", "3xx", "4xx", "5xx", "timeout", "network", "forbidden"}

const classes = len(classNames)

// classOf is an outcome's index in classNames. Status codes outside of HTTP's
// ranges that net/http accepts count with the closest class.
func classOf(o webhook.Outcome) int {
	switch {
	case o.Success():
		return 0
	case o.Cause == webhook.TimedOut:
		return 4
	case o.Cause == webhook.TargetForbidden:
		return 6
	case o.Cause != webhook.Answered:
		return 5
	case o.Code < http.StatusBadRequest:
		return 1
	case o.Code < http.StatusInternalServerError:
		return 2
	}
	return 3
}

func (c *Counts) add(other Counts) {
	c.Events += other.Events
	c.Messages += other.Messages
	c.Delivered += other.Delivered
	c.Failed += other.Failed
	c.GivenUp += other.GivenUp
	c.Disabled += other.Disabled
	c.Refused += other.Refused
	c.Removed += other.Removed
}
