package appdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// StoredSetting is a setting that an earlier version stored in the database.
type StoredSetting struct{ Name, Value string }

// settingsTable is the table of settings that the migration to version 9 drops.
const settingsTable = "WH_Setting"

// ErrSettingsNotSaved refuses a migration that would lose settings.
var ErrSettingsNotSaved = errors.New("the database contains settings of an earlier version," +
	" which this command cannot save to a file")

// exportSettings passes the stored settings to saveSettings before the migration
// that drops their table. If they cannot be saved, the table is not dropped. It
// makes the version of the settings negative: a daemon of an earlier version then
// refuses to change them, since no change matches such a version.
func (m *Migrator) exportSettings(ctx context.Context) error {
	if exists, err := m.hasTable(ctx, settingsTable); err != nil || !exists {
		return err
	}
	tx, err := m.db.Pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after Commit
	const negate = `UPDATE whd.WH_Number SET Next = -ABS(Next) WHERE Name = 'SettingsVersion'`
	if _, err := tx.ExecContext(ctx, m.db.Qualify(negate)); err != nil {
		return err
	}
	settings, err := storedSettings(ctx, m.db, tx)
	if err != nil {
		return err
	}
	if len(settings) == 0 {
		return tx.Commit()
	}
	if m.saveSettings == nil {
		return ErrSettingsNotSaved
	}
	if err := m.saveSettings(settings); err != nil {
		return fmt.Errorf("saving the settings from the database to a file: %w", err)
	}
	return tx.Commit()
}

// releaseTimeout bounds the time to restore the version of the settings.
const releaseTimeout = 5 * time.Second

// releaseSettings lets daemons of an earlier version change their settings again
// after a migration that did not drop the table. Its own error is ignored: the
// caller reports the error of the migration.
func (m *Migrator) releaseSettings(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	const increase = `UPDATE whd.WH_Number SET Next = 1 - Next WHERE Name = 'SettingsVersion' AND Next < 0`
	if exists, err := m.hasTable(ctx, settingsTable); err == nil && exists {
		_, _ = m.db.Exec(ctx, increase)
	}
}

func storedSettings(ctx context.Context, o *DB, tx *sql.Tx) (settings []StoredSetting, err error) {
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
		settings = append(settings, s)
	}
	return settings, rows.Err()
}
