package webhook

import (
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/condition"
)

// MemberWhere is the member of a subscription with its condition.
const MemberWhere = condition.Member

var errSources = Invalid(MemberWhere,
	"is possible if all events of EventName are posted, or all are changes of one record kind")

// source returns the record kind of the events of a pattern, nil if clients post them. A
// pattern of a subscription with a condition must have one source.
func (r Rules) source(s *Subscription) (*record.Kind, error) {
	family, several := strings.CutSuffix(s.Pattern, "*")
	if !several || s.Where.Text == "" {
		return r.CapturedBy(s.Pattern), nil
	}
	var kind *record.Kind
	isFirst := true
	for _, e := range r.SubscribableEvents() {
		if len(e.Name) < len(family) || !strings.EqualFold(e.Name[:len(family)], family) {
			continue
		}
		source := r.CapturedBy(e.Name)
		if !isFirst && source != kind {
			return nil, errSources
		}
		kind = source
		isFirst = false
	}
	return kind, nil
}

// Check returns an error if a subscription may not have its owner, or its condition.
// The condition gets its canonical form. One that is stored is not checked again unless the
// events change.
func (r Rules) Check(s *Subscription, stored bool) error {
	kind, sourceErr := r.source(s)
	err := r.checkOwner(s, kind)
	if err != nil || s.Where.Text == "" || stored {
		return err
	}
	if sourceErr != nil {
		return sourceErr
	}
	o := condition.Options{Kind: kind, Event: s.Pattern, Zone: r.Zone}
	if kind != nil && r.Wide != nil {
		o.Wide, err = r.Wide(kind)
		if err != nil {
			return err
		}
	}
	s.Where.Condition, err = condition.Parse(s.Where.Text, o)
	s.Where.Text = s.Where.Condition.String()
	return err
}

// Judge determines whether a stored subscription is held, and parses its condition if that has
// not been done with the present record kinds. It reports whether anything has changed.
func (r Rules) Judge(s *Subscription) bool {
	kind, err := r.source(s)
	held := r.heldBy(s, kind)
	c := s.Where.Condition
	if err != nil {
		c = nil
	} else if s.Where.Text != "" && (c == nil || c.Kind() != kind) {
		c, err = condition.Parse(s.Where.Text, condition.Options{Kind: kind, Zone: r.Zone, Stored: true})
	}
	invalid := ""
	if err != nil {
		invalid = fault.From(err).Message
	}

	changed := held != s.Owner.Held || c != s.Where.Condition || invalid != s.Where.Invalid
	s.Owner.Held = held
	s.Where.Condition = c
	s.Where.Invalid = invalid
	return changed
}

// Known determines since when the values are known that the conditions of judged
// subscriptions compare.
func (r Rules) Known(subscriptions []Subscription) error {
	kept := make(map[*record.Kind]map[string]time.Time)
	for i := range subscriptions {
		w := &subscriptions[i].Where
		names := subscriptions[i].Needs()
		if len(names) == 0 || r.KeptFrom == nil {
			continue
		}
		kind := w.Condition.Kind()
		if kept[kind] == nil {
			keptFrom, err := r.KeptFrom(kind)
			if err != nil {
				return err
			}
			kept[kind] = keptFrom
		}
		for _, name := range names {
			from, ok := kept[kind][name]
			w.Waits = w.Waits || !ok
			if from.After(w.From) {
				w.From = from
			}
		}
	}
	return nil
}

// Needs returns the fields that the condition of a subscription compares with their values before a
// change, or in a deleted record.
func (s *Subscription) Needs() []string {
	if s.Where.Condition == nil || s.Where.Condition.Kind() == nil {
		return nil
	}
	pattern := strings.ToLower(s.Pattern)
	return s.Where.Condition.Needs(strings.HasSuffix(pattern, "*") || strings.HasSuffix(pattern, ".deleted"))
}
