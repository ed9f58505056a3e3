package sqlstore

import (
	"context"
	"database/sql"

	"github.com/bizhook/whd/daemon/appdb"
)

// KeepEventRoles stores the roles that captured events require, and returns those of all
// events that have been captured. The role of reader is empty.
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
		steps = append(steps, appdb.Statement(`UPDATE whd.WH_EventRole SET Role = @Role WHERE EventName = @Event`, args...),
			appdb.Statement(`INSERT INTO whd.WH_EventRole (EventName, Role) SELECT @Event, @Role WHERE NOT EXISTS (SELECT 1 FROM whd.WH_EventRole r WHERE r.EventName = @Event)`, args...))
	}
	if steps != nil {
		_, err = e.db.Run(ctx, steps...)
	}
	return kept, e.fault(err, "storing the roles of events")
}

func (e *Engine) eventRoles(ctx context.Context) (map[string]string, error) {
	type eventRole struct{ event, role string }
	all, err := appdb.QueryAll(ctx, e.db, scanInto(func(r *eventRole) []any { return []any{&r.event, &r.role} }), `SELECT EventName, Role FROM whd.WH_EventRole`)
	kept := make(map[string]string)
	for _, r := range all {
		kept[r.event] = r.role
	}
	return kept, e.fault(err, "reading the roles of events")
}
