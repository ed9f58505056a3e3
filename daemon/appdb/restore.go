package appdb

import (
	"fmt"

	"github.com/bizhook/whd/daemon/sqlite"
)

// sessionTables are the tables of the sessions of users, and of those of subscribers on their pages.
var sessionTables = []string{"WH_Session", "WH_PortalSession"}

// EndSessions ends all sessions in a file that has been restored from a backup. Otherwise those that
// have ended since the backup, by a logout or because a subscriber was disabled, would be valid again.
func EndSessions(conn *sqlite.Conn) error {
	for _, table := range sessionTables {
		_, exists, err := conn.QueryInt("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '" + table + "'")
		if err == nil && exists { // a backup by an earlier version may lack it
			err = conn.Exec("DELETE FROM " + table)
		}
		if err != nil {
			return fmt.Errorf("ending the sessions in %s: %w", table, err)
		}
	}
	return nil
}
