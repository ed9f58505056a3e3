package account

import (
	"time"

	"github.com/bizhook/whd/daemon/audit"
)

// Editor changes accounts in somebody's name, which the audit trail keeps with
// each change.
type Editor struct {
	s  *Service
	by audit.Actor
}

// As gives the Editor for who makes a change.
func (s *Service) As(by audit.Actor) *Editor { return &Editor{s, by} }

// Actor is an identity as the audit trail names it.
func (i Identity) Actor(address string) audit.Actor {
	return audit.Actor{Who: i.Name, Via: i.Via.String(), Address: address}
}

func (e *Editor) entry(a audit.Action, subject string, d audit.Detail) audit.Entry {
	return audit.Entry{Actor: e.by, At: e.s.clock(), Action: a, Subject: subject, Detail: d.String()}
}

func (e *Editor) addition(u User) audit.Entry {
	var d audit.Detail
	d.Set("Role", u.Role.String())
	if u.DisplayName != "" {
		d.Set("DisplayName", u.DisplayName)
	}
	return e.entry(audit.AddUser, u.Name, d)
}

// detail says of a password only that there is another one.
func (up Update) detail() (d audit.Detail) {
	if up.Role != nil {
		d.Set("Role", up.Role.String())
	}
	if up.DisplayName != nil {
		d.Set("DisplayName", *up.DisplayName)
	}
	if up.Password != nil {
		d.Set("Password", "***")
	}
	return d
}

func (k Key) detail() (d audit.Detail) {
	d.Set("KeyID", k.ID)
	d.Set("Role", k.Role.String())
	if !k.Expires.IsZero() {
		d.Set("ExpiryDateTime", k.Expires.UTC().Format(time.RFC3339))
	}
	return d
}
