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

var errSources = Invalid(MemberWhere, "is possible if all events of EventName are posted, or all are changes of one record kind")

// source returns the record kind of the events of a pattern, nil if clients post them. A
// pattern of a subscription with a condition must have one source.
func (r Rules) source(s *Subscription) (kind *record.Kind, err error) {
	family, several := strings.CutSuffix(s.Pattern, "*")
	if !several || s.Where.Text == "" {
		return r.CapturedBy(s.Pattern), nil
	}
	first := true
	for _, e := range r.SubscribableEvents() {
		if len(e.Name) < len(family) || !strings.EqualFold(e.Name[:len(family)], family) {
			continue
		}
		of := r.CapturedBy(e.Name)
		if !first && of != kind {
			return nil, errSources
		}
		kind, first = of, false
	}
	return kind, nil
}

// Check returns an error if a subscription may not have its owner, or its condition.
// The condition gets its canonical form. One that is stored is not checked again unless the
// events change.
func (r Rules) Check(s *Subscription, stored bool) error {
	kind, err := r.source(s)
	if err := r.checkOwner(s, kind); err != nil || s.Where.Text == "" || stored {
		return err
	}
	o := condition.Options{Kind: kind, Zone: r.Zone}
	if err == nil && kind != nil && r.Wide != nil {
		o.Wide, err = r.Wide(kind)
	}
	if err == nil {
		s.Where.Condition, err = condition.Parse(s.Where.Text, o)
		s.Where.Text = s.Where.Condition.String()
	}
	return err
}

// Judge determines whether a stored subscription is held, and parses its condition if that has
// not been done with the present record kinds. It reports whether anything has changed.
func (r Rules) Judge(s *Subscription) (changed bool) {
	kind, err := r.source(s)
	held, c := r.heldBy(s, kind), s.Where.Condition
	if err != nil {
		c = nil
	} else if s.Where.Text != "" && (c == nil || c.Kind() != kind) {
		c, err = condition.Parse(s.Where.Text, condition.Options{Kind: kind, Zone: r.Zone, Stored: true})
	}
	invalid := ""
	if err != nil {
		invalid = fault.From(err).Message
	}
	changed = held != s.Owner.Held || c != s.Where.Condition || invalid != s.Where.Invalid
	s.Owner.Held, s.Where.Condition, s.Where.Invalid = held, c, invalid
	return changed
}

// Known determines since when the values are known that the conditions of judged
// subscriptions compare.
func (r Rules) Known(all []Subscription) error {
	kept := make(map[*record.Kind]map[string]time.Time)
	for i := range all {
		w, names := &all[i].Where, all[i].Needs()
		if len(names) == 0 || r.KeptFrom == nil {
			continue
		}
		kind := w.Condition.Kind()
		if kept[kind] == nil {
			var err error
			if kept[kind], err = r.KeptFrom(kind); err != nil {
				return err
			}
		}
		for _, name := range names {
			from, known := kept[kind][name]
			if w.Waits = w.Waits || !known; from.After(w.From) {
				w.From = from
			}
		}
	}
	return nil
}

// Needs returns the fields of which the condition of a subscription compares the values before
// a change, or in a deleted record.
func (s *Subscription) Needs() []string {
	if s.Where.Condition == nil || s.Where.Condition.Kind() == nil {
		return nil
	}
	pattern := strings.ToLower(s.Pattern)
	return s.Where.Condition.Needs(strings.HasSuffix(pattern, "*") || strings.HasSuffix(pattern, ".deleted"))
}
