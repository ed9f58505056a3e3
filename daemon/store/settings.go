package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/audit"
)

// Settings keeps the settings that were changed while the service ran.
type Settings struct{ own *ownDB }

// Settings are the stored settings.
func (s *Store) Settings() *Settings { return &Settings{s.own} }

// MostSetting is the length of the longest text that a setting may have, in
// bytes.
const MostSetting = 4000

// settingsVersion is the number in WH_Number that each change raises.
const settingsVersion = `SettingsVersion`

// SavedSetting is a setting that the service itself holds.
type SavedSetting struct {
	Name  string
	Value string
	Saved time.Time
}

// Version grows with each change.
func (s *Settings) Version(ctx context.Context) (int64, error) {
	n, err := found(ctx, s.own, scanInt, `SELECT Next FROM whd.WH_Number WHERE Name = @Name`, sql.Named("Name", settingsVersion))
	if err != nil || n == nil {
		return 0, s.own.fault(err, "reading the version of the settings")
	}
	return *n, nil
}

// All lists the settings by name, with their version. The version is read first:
// a change that comes after it is in the list already or makes it stale.
func (s *Settings) All(ctx context.Context) (version int64, all []SavedSetting, err error) {
	if version, err = s.Version(ctx); err != nil {
		return 0, nil, err
	}
	all, err = list(ctx, s.own, scanSetting, `SELECT Name, Value, LastSavedDateTime FROM whd.WH_Setting ORDER BY Name`)
	return version, all, s.own.fault(err, "reading the settings")
}

func scanSetting(row scanner) (one SavedSetting, err error) {
	err = row.Scan(&one.Name, &one.Value, (*moment)(&one.Saved))
	return one, err
}

// SettingChange is what becomes of a setting.
type SettingChange struct {
	Name  string
	Value *string // nil: the service holds it no longer
	Entry audit.Entry
}

// Change makes changes that are based on a version, all or none, each with its
// entry in the audit trail. It reports false, and changes nothing, where that
// version is not the present one.
func (s *Settings) Change(ctx context.Context, based int64, changes []SettingChange) (bool, error) {
	steps := []step{{`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name AND Next = @Based`,
		[]any{sql.Named("Name", settingsVersion), sql.Named("Based", based)}, true}}
	for _, c := range changes {
		name := sql.Named("Name", c.Name)
		steps = append(steps, step{`DELETE FROM whd.WH_Setting WHERE Name = @Name`, []any{name}, false})
		if c.Value != nil {
			steps = append(steps, step{`INSERT INTO whd.WH_Setting (Name, Value, LastSavedDateTime) VALUES (@Name, @Value, @Saved)`,
				[]any{name, sql.Named("Value", *c.Value), sql.Named("Saved", stamp(c.Entry.At))}, true})
		}
		steps = append(steps, written(c.Entry))
	}
	changed, err := s.own.run(ctx, steps...)
	return changed, s.own.fault(err, "changing settings")
}
