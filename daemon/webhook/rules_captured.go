package webhook

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// CapturedBy returns the record kind of a captured event, nil for an event that clients
// post.
func (r Rules) CapturedBy(event string) *record.Kind {
	if len(r.Captured) == 0 {
		return nil
	}
	return r.Captured[strings.ToLower(event)]
}

// Covered returns the record kinds with events that match a pattern, by name.
func (r Rules) Covered(pattern string) []*record.Kind {
	var kinds []*record.Kind
	for event, kind := range r.Captured {
		if record.MatchesEvent(pattern, event) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b *record.Kind) int { return strings.Compare(a.Name, b.Name) })
	return kinds
}

// HowToRequest returns how the capture of a kind on demand is started.
func HowToRequest(kind *record.Kind) string {
	follow := `follow them, or set capture = "always"`
	if kind.Events == "" {
		return follow
	}
	return "subscribe to " + kind.Events + ".* as a user with the right to read the records, " + follow
}

// Posted returns the name of a published event in canonical letter case if clients may
// post it. Otherwise the error contains the kind of the event, if the caller may see the kind.
func (r Rules) Posted(text string, sees func(*record.Kind) bool) (string, error) {
	name, err := r.Event(text)
	kind := r.CapturedBy(name)
	if err != nil || kind == nil {
		return name, err
	}
	by := "a record kind"
	if sees(kind) {
		by = "the record kind " + kind.Name
	}
	text = "cannot be posted: it is published for changes of " + by
	return "", &fault.Error{Kind: fault.Conflict, Message: MemberEvent + " " + text, Fields: []fault.Field{{Name: MemberEvent, Message: text}}}
}

// checkOwner returns an error unless the owner of a subscription may read the kind of its
// events. It does not name the kind.
func (r Rules) checkOwner(s *Subscription, kind *record.Kind) error {
	if record.IsServiceEvent(s.Pattern) && !r.IsAdmin(s.Owner.Name) {
		return serviceEventsRefused(s)
	}
	if kind == nil || r.reads(s.Owner.Name, kind) {
		return nil
	}
	if s.Owner.Name == "" {
		return fault.New(fault.Unauthorized,
			"a subscription to %s requires a login with the right to read its records; the SubscriberID is not enough",
			s.Pattern)
	}
	return fault.New(fault.Forbidden, "a subscription to %s requires the right to read its records", s.Pattern)
}

// heldBy returns the name of the kind that the owner of a subscription may not read now
// although the subscription names one of its events, or has a condition on them; empty for
// none.
func (r Rules) heldBy(s *Subscription, kind *record.Kind) string {
	if kind == nil || s.Owner.Name == "" || r.reads(s.Owner.Name, kind) {
		return ""
	}
	return kind.Name
}

// adminKind is read by admins only.
var adminKind = &record.Kind{Role: "admin"}

// IsAdmin reports whether the owner of a subscription is an admin now.
func (r Rules) IsAdmin(owner string) bool {
	return owner != "" && r.MayRead != nil && r.MayRead(owner, adminKind)
}

// serviceEventsRefused returns the error for a subscription to events of the service by another
// caller than an admin.
func serviceEventsRefused(s *Subscription) error {
	kind := fault.Forbidden
	if s.Owner.Name == "" {
		kind = fault.Unauthorized
	}
	return fault.New(kind,
		"a subscription to %s requires the role admin: these events are about all subscribers", s.Pattern)
}

// Receives reports whether an event of the service, or a captured event, is sent to a subscription
// that matches it. The former are for subscriptions of admins. Of the latter, a subscription that
// names the event gets its messages even while it is held, one to a family or all events only those
// that its owner may read.
func (r Rules) Receives(s *Subscription, event string) bool {
	if record.IsServiceEvent(event) {
		return r.IsAdmin(s.Owner.Name)
	}
	kind := r.CapturedBy(event)
	if kind == nil || s.Owner.Name == "" {
		return false
	}
	return strings.EqualFold(s.Pattern, event) || r.reads(s.Owner.Name, kind)
}

// Withheld returns the events that the owner of a subscription may not read, in lower case. Those of
// the service may be queued from a time when the owner was another user, or an admin.
func (r Rules) Withheld(owner string) map[string]bool {
	withheld := r.withheld(func(kind *record.Kind) bool { return r.reads(owner, kind) })
	if r.IsAdmin(owner) {
		return withheld
	}
	for _, event := range record.ServiceEvents() {
		withheld[event.Name] = true
	}
	return withheld
}

// WithheldFrom returns the names of the events that a caller may not read, sorted. reads reports
// whether it may read the records of a kind. Those of the service are about all subscribers.
func (r Rules) WithheldFrom(reads func(*record.Kind) bool) []string {
	withheld := r.withheld(reads)
	var names []string
	if !reads(adminKind) {
		for _, event := range record.ServiceEvents() {
			names = append(names, event.Name)
		}
	}
	for name := range r.Roles {
		if withheld[strings.ToLower(name)] {
			names = append(names, name)
		}
	}
	slices.Sort(names) // equal statements have equal texts
	return names
}

// withheld returns the events of kinds that are not read, in lower case: those of captured kinds,
// and those that were captured before. Of the latter, events that clients post now are left out
// unless they required a role of their own.
func (r Rules) withheld(reads func(*record.Kind) bool) map[string]bool {
	withheld := make(map[string]bool)
	for event, kind := range r.Captured {
		if !reads(kind) {
			withheld[event] = true
		}
	}
	for name, role := range r.Roles {
		event := strings.ToLower(name)
		if r.Captured[event] != nil || role == "" && r.publishes(event) {
			continue
		}
		if !reads(&record.Kind{Role: role}) {
			withheld[event] = true
		}
	}
	return withheld
}

func (r Rules) publishes(event string) bool {
	return slices.ContainsFunc(r.Events, func(e record.Event) bool { return strings.EqualFold(e.Name, event) })
}

func (r Rules) reads(owner string, kind *record.Kind) bool {
	return owner != "" && r.MayRead(owner, kind)
}
