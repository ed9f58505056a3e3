package daemon

import (
	"context"
	"fmt"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/storage"
)

// migrate opens the store, which brings its own tables up to date, and prints
// their version before and after.
func migrate(ctx context.Context, c *call) error {
	up := func(s *storage.Config) { s.Migrate = true }
	return c.withStore(ctx, up, func(s *storage.Store) error {
		m, err := s.Migration(ctx)
		if err != nil {
			return err
		}
		return c.tellMigration(m)
	})
}

func (c *call) tellMigration(m appdb.Migration) (err error) {
	switch {
	case m.After > m.Latest:
		return fmt.Errorf("the tables of %s have version %d, but this program knows version %d only; it is older than the one that made them", m.Name, m.After, m.Latest)
	case m.Before == m.After:
		_, err = fmt.Fprintf(c.Stdout, "%s: version %d, up to date\n", m.Name, m.After)
	default:
		_, err = fmt.Fprintf(c.Stdout, "%s: version %d -> %d\n", m.Name, m.Before, m.After)
	}
	return err
}
