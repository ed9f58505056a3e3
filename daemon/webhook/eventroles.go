package webhook

import (
	"context"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/bizhook/whd/client/record"
)

// EventRoles has the roles that the events of captured kinds require, by the events' names:
// of kinds that are captured now, and of those that were captured before. It is safe for
// concurrent use.
type EventRoles struct {
	store    EventRoleStore
	required atomic.Pointer[map[string]string]
}

// EventRoleStore stores the roles that events require.
type EventRoleStore interface {
	// KeepEventRoles stores the current roles, and returns the roles of all events that have been
	// captured.
	KeepEventRoles(ctx context.Context, current map[string]string) (map[string]string, error)
}

// NewEventRoles returns the current roles. Keep adds those in the store.
func NewEventRoles(store EventRoleStore, current map[string]string) *EventRoles {
	r := &EventRoles{store: store}
	r.required.Store(&current)
	return r
}

// Required returns the roles for Rules.Roles. Callers must not modify it.
func (r *EventRoles) Required() map[string]string { return *r.required.Load() }

// Keep stores the current roles, and reads the roles of earlier kinds. If it fails, the roles
// that are known already stay in effect.
func (r *EventRoles) Keep(ctx context.Context, current map[string]string) error {
	roles, err := r.store.KeepEventRoles(ctx, current)
	if err != nil {
		roles = maps.Clone(r.Required())
		maps.Copy(roles, current)
	}
	r.required.Store(&roles)
	return err
}

// RequiredRoles returns the roles that the events of captured kinds require, by the events'
// names. captured has the kinds by the events' names in lower case.
func RequiredRoles(events []record.Event, captured map[string]*record.Kind) map[string]string {
	roles := make(map[string]string)
	for _, e := range events {
		if kind := captured[strings.ToLower(e.Name)]; kind != nil {
			roles[e.Name] = kind.Role
		}
	}
	return roles
}
