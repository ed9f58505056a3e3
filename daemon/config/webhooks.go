package config

import (
	"fmt"
	"net/netip"
	"net/url"
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
	PublishFrom    []netip.Prefix
	Events         EventNames // published beside those of the table
	AllowTargets   []netip.Prefix
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

// Warnings are what is likely to be a mistake in the settings, though the service
// works with it.
func (c *Config) Warnings() []string {
	if !c.Webhooks.Enabled || !IsLoopback(c.Webhooks.HostURL) {
		return nil
	}
	return []string{"webhooks.host_url is an address of this host only; it must be the one by which users in the company reach the service"}
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

func checkHostURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not an address such as http://erp.example:5050", text)
	}
	return nil
}

// EventNames are names of events, such as job.created.
type EventNames []string

type eventsValue struct{ p *EventNames }

func (v eventsValue) kind() string { return "names" }
func (v eventsValue) text() string { return strings.Join(*v.p, ",") }

func (v eventsValue) set(text string) error {
	var names EventNames
	for _, name := range splitList(text) {
		if !isEventName(name) {
			return fmt.Errorf("%q is not the name of an event such as job.created: letters, digits, - and _ around points", name)
		}
		if len(name) > len(ownEvents) && strings.EqualFold(name[:len(ownEvents)], ownEvents) {
			return fmt.Errorf("%q is not a name for your events: those that begin with %s are the service's own", name, ownEvents)
		}
		names = append(names, name)
	}
	*v.p = names
	return nil
}

// ownEvents begin the names of the service's own events.
const ownEvents = "webhooks."

func isEventName(name string) bool {
	const most = 100
	parts := strings.Split(name, ".")
	return len(parts) > 1 && len(name) <= most && !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != ""
	})
}

// Waits are the times between attempts.
type Waits []time.Duration

type waitsValue struct{ p *Waits }

func (v waitsValue) kind() string { return "durations" }

func (v waitsValue) text() string {
	var texts []string
	for _, wait := range *v.p {
		texts = append(texts, durationValue{&wait}.text())
	}
	return strings.Join(texts, ",")
}

func (v waitsValue) set(text string) error {
	waits, err := webhook.ParseSchedule(text)
	if err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	*v.p = waits
	return nil
}
