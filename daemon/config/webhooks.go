package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// WebhooksConfig configures the publication of events and their delivery.
type WebhooksConfig struct {
	Enabled        bool
	HostURL        string // base URL of the service for its users
	Portal         bool   // serve the pages of subscribers
	Publish        string // required, anonymous
	PublishFrom    Networks
	Dates          string     // legacy, iso
	Events         EventNames // in addition to the built-in ones
	AllowTargets   Networks
	RetrySchedule  Schedule
	RetryAfterMax  time.Duration
	DisableAfter   time.Duration // 0: never
	MaxPerMinute   int           // of a subscription without a rate limit of its own; 0: no limit
	Way            OutboundConfig
	ConnectTimeout time.Duration
	AttemptTimeout time.Duration
	MaxAttempts    int // concurrent

	MaxSubscriptions int // number of subscriptions of a subscriber that its SubscriberID alone can add

	Memory         Size
	Lease          time.Duration
	OutboxPoll     time.Duration
	KeepSuccessful time.Duration // 0: forever
	KeepFailed     time.Duration // 0: forever
	ResponsesSize  Size          // 0: no limit
}

// ISODates is the value of webhooks.dates for dates in ISO 8601.
const ISODates = "iso"

// AnonymousPublish reports whether events may be published without a login.
func (w WebhooksConfig) AnonymousPublish() bool { return w.Publish == "anonymous" }

// Policy returns the retry policy.
func (w WebhooksConfig) Policy() webhook.Policy {
	return webhook.Policy{
		Schedule:      w.RetrySchedule,
		Jitter:        retryJitter,
		RetryAfterMax: w.RetryAfterMax,
		DisableAfter:  w.DisableAfter,
	}
}

// Retention returns how long messages are kept.
func (w WebhooksConfig) Retention() webhook.Retention {
	return webhook.Retention{
		Successful: w.KeepSuccessful,
		Failed:     w.KeepFailed,
		TextSize:   int64(w.ResponsesSize),
	}
}

// retryJitter is the random share of each delay, so that messages that failed together
// are not all retried at the same moment.
const retryJitter = 0.2

// leasesPerAttempt is the minimum ratio of the lease to an attempt's time limit, so
// that a daemon never loses a message while it sends it.
const leasesPerAttempt = 3

// Check returns an error if settings contradict each other.
func (w WebhooksConfig) Check() error {
	if w.Lease < leasesPerAttempt*w.AttemptTimeout {
		return fmt.Errorf("webhooks.lease is %v; it must be at least %d times webhooks.attempt_timeout, which is %v",
			w.Lease, leasesPerAttempt, w.AttemptTimeout)
	}
	return nil
}

// TestTarget returns the URL of the service's own test target, nil if
// webhooks.host_url is not set.
func (w WebhooksConfig) TestTarget() *url.URL {
	u, err := url.Parse(w.HostURL)
	if w.HostURL == "" || err != nil {
		return nil
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/Webhooks/Test"
	return u
}

// IsLoopback reports whether the host of a URL is localhost, a loopback address or the
// unspecified address.
func IsLoopback(text string) bool {
	u, err := url.Parse(text)
	return err == nil && wire.IsLoopback(u.Hostname())
}

// PublishedEvents returns the built-in events, the events in webhooks.events and the events of
// record kinds; and, by name in lower case, the kinds of these. An event of a kind replaces one of
// the same name, so that a name has one source.
func (w WebhooksConfig) PublishedEvents(
	kinds *record.Registry,
) (events []record.Event, captured map[string]*record.Kind) {
	events = record.Events()
	captured = make(map[string]*record.Kind)
	at := make(map[string]int) // by name in lower case
	for i, e := range events {
		at[strings.ToLower(e.Name)] = i
	}
	for _, name := range w.Events {
		key := strings.ToLower(name)
		if _, ok := at[key]; !ok {
			at[key] = len(events)
			events = append(events, record.Event{Name: name, Description: "Added by the setting webhooks.events"})
		}
	}
	for _, kind := range kinds.Kinds() {
		for _, e := range record.CapturedEvents(kind) {
			key := strings.ToLower(e.Name)
			switch i, ok := at[key]; {
			case captured[key] != nil: // the first kind of a name publishes it
				continue
			case ok:
				events[i] = e
			default:
				events = append(events, e)
			}
			captured[key] = kind
		}
	}
	return events, captured
}

// EventNames is a list of event names such as job.created.
type EventNames []string

// UnmarshalText parses event names. Names of the service's own events are errors.
func (n *EventNames) UnmarshalText(text []byte) error {
	return readList((*[]string)(n), text, parseEventName)
}

// String returns the form that UnmarshalText parses.
func (n EventNames) String() string { return joined(n) }

// ownEvents is the prefix of the service's own events.
const ownEvents = "webhooks."

const maxEventName = 100

var eventName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)

func parseEventName(name string) (string, error) {
	if len(name) > maxEventName || !eventName.MatchString(name) {
		return "", fmt.Errorf("%q is not an event name such as job.created: use letters, digits, - and _, separated by dots",
			name)
	}
	if strings.HasPrefix(strings.ToLower(name), ownEvents) {
		return "", fmt.Errorf("event name %q is reserved: names starting with %s belong to the service",
			name, ownEvents)
	}
	return name, nil
}
