package appdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// StoredSetting is a setting that an earlier version kept in the database.
type StoredSetting struct{ Name, Value string }

// settingsTable is the table of settings that the migration to version 9 drops.
const settingsTable = "WH_Setting"

// ErrSettingsStay refuses a migration that would lose settings.
var ErrSettingsNotSaved = errors.New("the database holds settings, which this program cannot write to a file")

// rescueSettings hands the stored settings to keepSettings before the migration
// that drops their table. The table stays where they cannot be kept. A daemon of
// an earlier version changes no settings from then on, since each of its changes
// must find a version that it knows: the negative one is none.
func (m *Migrator) rescueSettings(ctx context.Context) error {
	if there, err := m.hasTable(ctx, settingsTable); err != nil || !there {
		return err
	}
	tx, err := m.db.Pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, m.db.Qualify(`UPDATE whd.WH_Number SET Next = -ABS(Next) WHERE Name = 'SettingsVersion'`)); err != nil {
		return err
	}
	all, err := storedSettings(ctx, m.db, tx)
	if err != nil {
		return err
	}
	if len(all) > 0 && m.saveSettings == nil {
		return ErrSettingsNotSaved
	}
	if len(all) > 0 {
		if err := m.saveSettings(all); err != nil {
			return fmt.Errorf("the settings that the database holds cannot be written to a file: %w", err)
		}
	}
	return tx.Commit()
}

// releaseTimeout bounds the time for putting the version of the settings back.
const releaseTimeout = 5 * time.Second

// releaseSettings has daemons of an earlier version read their settings again,
// after a migration that did not drop the table. Where it fails, so did the
// migration, whose error says why.
func (m *Migrator) releaseSettings(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if there, err := m.hasTable(ctx, settingsTable); err == nil && there {
		_, _ = m.db.Exec(ctx, `UPDATE whd.WH_Number SET Next = 1 - Next WHERE Name = 'SettingsVersion' AND Next < 0`)
	}
}

func storedSettings(ctx context.Context, o *DB, tx *sql.Tx) (all []StoredSetting, err error) {
	rows, err := tx.QueryContext(ctx, o.Qualify(`SELECT Name, Value FROM whd.WH_Setting ORDER BY Name`))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s StoredSetting
		if err := rows.Scan(&s.Name, &s.Value); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
