package sqlstore

import (
	"context"
	"database/sql"

	"github.com/bizhook/whd/daemon/appdb"
)

// An event role is updated, and inserted if it does not exist. Both statements take the same
// arguments.
const (
	updateEventRole = `UPDATE whd.WH_EventRole SET Role = @Role WHERE EventName = @Event`
	insertEventRole = `INSERT INTO whd.WH_EventRole (EventName, Role)
SELECT @Event, @Role WHERE NOT EXISTS (SELECT 1 FROM whd.WH_EventRole r WHERE r.EventName = @Event)`
)

// KeepEventRoles stores the roles that captured events require, and returns the roles of all events
// that have been captured. The role of reader is empty.
func (e *Engine) KeepEventRoles(ctx context.Context, current map[string]string) (map[string]string, error) {
	kept, err := e.eventRoles(ctx)
	if err != nil {
		return nil, err
	}
	var steps []appdb.Step
	for name, role := range current {
		if old, known := kept[name]; known && old == role {
			continue
		}
		kept[name] = role
		args := []any{sql.Named("Event", name), sql.Named("Role", role)}
		steps = append(steps,
			appdb.Statement(updateEventRole, args...),
			appdb.Statement(insertEventRole, args...),
		)
	}
	if steps == nil {
		return kept, nil
	}

	_, err = e.db.Run(ctx, steps...)
	return kept, e.fault(err, "storing the roles of events")
}

// eventRole is a row of WH_EventRole.
type eventRole struct{ event, role string }

func eventRoleFields(r *eventRole) []any { return []any{&r.event, &r.role} }

// eventRoles returns the stored roles by event.
func (e *Engine) eventRoles(ctx context.Context) (map[string]string, error) {
	rows, err := appdb.QueryAll(ctx, e.db, scanInto(eventRoleFields), `SELECT EventName, Role FROM whd.WH_EventRole`)
	if err != nil {
		return nil, e.fault(err, "reading the roles of events")
	}

	roles := make(map[string]string, len(rows))
	for _, r := range rows {
		roles[r.event] = r.role
	}
	return roles, nil
}
