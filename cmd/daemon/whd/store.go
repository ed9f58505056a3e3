package whd

import (
	"errors"
	"fmt"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/storage"
)

// stores are the commands on the tables of either store.
type stores struct{ *base }

func (p stores) commands() []*urfave.Command {
	return []*urfave.Command{
		{Name: "migrate", Usage: "bring the store's own tables up to date and print their versions", Action: p.migrate, Flags: p.settingFlags(storing...)},
		{Name: "demo", Usage: "fill an empty store with the records of a demo business; on a server it makes missing tables", Action: p.fill, Flags: p.settingFlags(reading...)},
	}
}

// migrate opens the store, which brings its own tables up to date, and prints
// their version before and after.
func (p stores) migrate(c *urfave.Context) error {
	return p.withStore(c.Context, func(s *storage.Config) { s.Migrate = true }, func(s *storage.Store) error {
		m, err := s.AppDB.Migration(c.Context)
		switch {
		case err != nil:
		case m.After > m.Latest:
			err = fmt.Errorf("the tables of %s have version %d, but this program knows version %d only; it is older than the one that made them", m.Name, m.After, m.Latest)
		case m.Before == m.After:
			_, err = fmt.Fprintf(p.Stdout, "%s: version %d, up to date\n", m.Name, m.After)
		default:
			_, err = fmt.Fprintf(p.Stdout, "%s: version %d -> %d\n", m.Name, m.Before, m.After)
		}
		return err
	})
}

// fill puts the demo records into an empty store. They never get into tables
// that are in use.
func (p stores) fill(c *urfave.Context) error {
	return p.withStore(c.Context, nil, func(s *storage.Store) error {
		empty, err := s.Empty(c.Context)
		if err != nil {
			return err
		}
		if !empty {
			return errors.New("the store has records; demo records only go where no record kind has a row")
		}
		filled, err := s.Seed(c.Context, daemon.DemoTables(record.Builtin()), demo.Rows)
		if err != nil {
			return fmt.Errorf("filling the store with demo records: %w", err)
		}
		_, err = fmt.Fprintf(p.Stdout, "%d demo records\n", filled.Rows)
		if filled.Changed > 0 {
			p.notice("%d values were changed to the nearest that the tables can hold", filled.Changed)
		}
		return err
	})
}
