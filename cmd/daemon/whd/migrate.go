package whd

import (
	"fmt"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/daemon/storage"
)

// migrating is the command migrate.
type migrating struct{ *base }

func (p migrating) commands() []*urfave.Command {
	return []*urfave.Command{{
		Name: "migrate", Usage: "bring the store's own tables up to date and print their versions",
		Action: p.migrate, Flags: p.settingFlags(storing...),
	}}
}

// migrate opens the store, which brings its own tables up to date, and prints
// their version before and after.
func (p migrating) migrate(c *urfave.Context) error {
	return p.withStore(c.Context, func(s *storage.Config) { s.Migrate = true }, func(s *storage.Store) error {
		m, err := s.Migration(c.Context)
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
