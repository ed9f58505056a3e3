package daemon

import (
	"context"
	"fmt"

	"github.com/bizhook/whd/daemon/store"
)

// migrate opens the store, which brings an embedded one up to date, and prints
// the version that its own tables have now.
func migrate(ctx context.Context, c *call) error {
	return c.withStore(ctx, func(s *store.Store) error {
		current, latest, err := s.SchemaVersion(ctx)
		if err != nil {
			return err
		}
		if current != latest {
			return fmt.Errorf("whd.db has version %d of its tables, but this program knows version %d", current, latest)
		}
		_, err = fmt.Fprintf(c.Stdout, "whd.db %d\n", current)
		return err
	})
}
