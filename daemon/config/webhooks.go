package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// WebhooksConfig is how events are taken and delivered.
type WebhooksConfig struct {
	Enabled        bool
	HostURL        string // the service's own, as users in the company reach it
	Publish        string // required, anonymous
	PublishFrom    Networks
	Events         EventNames // published beside those of the table
	AllowTargets   Networks
	RetrySchedule  Waits
	RetryAfterMax  time.Duration
	DisableAfter   time.Duration // 0: never
	ConnectTimeout time.Duration
	AttemptTimeout time.Duration
	MaxAttempts    int // at once
	Memory         Size
	Lease          time.Duration
	OutboxPoll     time.Duration
	KeepSuccessful time.Duration // 0: for ever
	KeepFailed     time.Duration // 0: for ever
	ResponsesSize  Size          // 0: no limit
}

// AnonymousPublish reports whether events may come without a login.
func (w WebhooksConfig) AnonymousPublish() bool { return w.Publish == "anonymous" }

// Policy is how failed attempts are dealt with.
func (w WebhooksConfig) Policy() webhook.Policy {
	return webhook.Policy{Schedule: w.RetrySchedule, Jitter: retryJitter, RetryAfterMax: w.RetryAfterMax, DisableAfter: w.DisableAfter}
}

// Retention is how long messages are kept.
func (w WebhooksConfig) Retention() webhook.Retention {
	return webhook.Retention{Successful: w.KeepSuccessful, Failed: w.KeepFailed, TextSize: int64(w.ResponsesSize)}
}

// retryJitter spreads retries, so that messages which failed together do not
// come back together.
const retryJitter = 0.2

// leasesPerAttempt is how many times a lease must outlast an attempt, so that a
// daemon never loses a message that it is sending.
const leasesPerAttempt = 3

// Check reports settings that do not go together.
func (w WebhooksConfig) Check() error {
	if w.Lease < leasesPerAttempt*w.AttemptTimeout {
		return fmt.Errorf("webhooks.lease is %v; it must be at least %d times webhooks.attempt_timeout, which is %v", w.Lease, leasesPerAttempt, w.AttemptTimeout)
	}
	return nil
}

// TestTarget is the address of the service's own test target, where the settings
// say under which address the service is reached.
func (w WebhooksConfig) TestTarget() *url.URL {
	u, err := url.Parse(w.HostURL)
	if w.HostURL == "" || err != nil {
		return nil
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/Webhooks/Test"
	return u
}

// IsLoopback reports whether a URL leads nowhere but to the host that follows it.
func IsLoopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	at, err := netip.ParseAddr(name)
	if err != nil {
		return name == "localhost" || strings.HasSuffix(name, ".localhost")
	}
	return at.Unmap().IsLoopback() || at.IsUnspecified()
}

// PublishedEvents are the events of the table and those that the settings add.
func (w WebhooksConfig) PublishedEvents() []record.Event {
	events := record.Events()
	for _, name := range w.Events {
		if !slices.ContainsFunc(events, func(e record.Event) bool { return strings.EqualFold(e.Name, name) }) {
			events = append(events, record.Event{Name: name, Description: "Added by the settings of this service"})
		}
	}
	return events
}

// EventNames are names of events, such as job.created.
type EventNames []string

// UnmarshalText reads names of events other than the service's own.
func (n *EventNames) UnmarshalText(text []byte) error {
	return readList((*[]string)(n), text, parseEventName)
}

// String is what UnmarshalText reads.
func (n EventNames) String() string { return joined(n) }

// ownEvents begin the names of the service's own events.
const ownEvents = "webhooks."

const maxEventName = 100

var eventName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)

func parseEventName(name string) (string, error) {
	if len(name) > maxEventName || !eventName.MatchString(name) {
		return "", fmt.Errorf("%q is not the name of an event such as job.created: letters, digits, - and _ around points", name)
	}
	if strings.HasPrefix(strings.ToLower(name), ownEvents) {
		return "", fmt.Errorf("%q is not a name for your events: those that begin with %s are the service's own", name, ownEvents)
	}
	return name, nil
}
