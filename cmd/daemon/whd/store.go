package whd

import (
	"errors"
	"fmt"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/storage"
)

// storeCommands has the commands migrate and demo, for the embedded store and SQL Server.
type storeCommands struct{ *base }

func (p storeCommands) commands() []*urfave.Command {
	return []*urfave.Command{
		{
			Name:   "migrate",
			Usage:  "update whd's own tables and print their version",
			Action: p.migrate,
			Flags:  p.settingFlags(storeSettings...),
		},
		{
			Name:   "demo",
			Usage:  "insert demo records into an empty store; on SQL Server, also create missing tables",
			Action: p.seed,
			Flags:  p.settingFlags(recordSettings...),
		},
	}
}

// migrate opens the store, which updates the daemon's own tables, and prints their
// version before and after.
func (p storeCommands) migrate(c *urfave.Context) error {
	migrating := func(conf *storage.Config) { conf.Migrate = true }
	return p.withStore(c.Context, migrating, func(s *storage.Store) error {
		if !s.AppDB.IsServer() {
			p.notice("the store is in files, which are also migrated whenever they are opened")
		}
		m, err := s.AppDB.Migration(c.Context)
		if err != nil {
			return err
		}
		if m.After < m.Latest {
			return fmt.Errorf("the tables of %s still have version %d; this whd needs version %d; "+
				"run whd migrate again",
				m.Name, m.After, m.Latest)
		}
		if m.Before == m.After {
			_, err = fmt.Fprintf(p.Stdout, "%s: version %d, up to date\n", m.Name, m.After)
			return err
		}
		_, err = fmt.Fprintf(p.Stdout, "%s: version %d -> %d\n", m.Name, m.Before, m.After)
		return err
	})
}

// insertedText reports the number of records that the command has inserted.
func insertedText(rows int64) string {
	return "inserted " + display.Count(rows, "demo record", "demo records")
}

// changedText reports how many values differ from those of the demo records.
func changedText(values int64) string {
	return display.Count(values, "value was", "values were") +
		" changed to the closest that the column can hold"
}

// seed inserts the demo records. It fails if any record table has rows.
func (p storeCommands) seed(c *urfave.Context) error {
	withDemoKinds := func(conf *storage.Config) { conf.Registry = demo.Kinds() }
	return p.withStore(c.Context, withDemoKinds, func(s *storage.Store) error {
		empty, err := s.Empty(c.Context)
		if err != nil {
			return err
		}
		if !empty {
			return errors.New("the store has records; demo records are only inserted into an empty store")
		}
		seeded, err := s.Seed(c.Context, daemon.DemoTables(), demo.Rows)
		if err != nil {
			return fmt.Errorf("inserting demo records: %w", err)
		}
		if _, err := fmt.Fprintln(p.Stdout, insertedText(seeded.Rows)); err != nil {
			return err
		}
		if seeded.Changed > 0 {
			p.notice("%s", changedText(seeded.Changed))
		}
		return nil
	})
}
