package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/storage"
)

// errNotEmpty keeps demo records out of tables that somebody works with.
var errNotEmpty = errors.New("the store has records; demo records only go where no record kind has a row")

// fillStore puts the demo records into an empty store.
func fillStore(ctx context.Context, c *call) error {
	return c.withStore(ctx, asItIs, func(s *storage.Store) error {
		empty, err := s.Empty(ctx)
		if err != nil {
			return err
		}
		if !empty {
			return errNotEmpty
		}
		filled, err := s.Fill(ctx, demoTables(record.Builtin()), demo.Rows)
		if err != nil {
			return fmt.Errorf("filling the store with demo records: %w", err)
		}
		_, err = fmt.Fprintf(c.Stdout, "%d demo records\n", filled.Rows)
		if filled.Changed > 0 {
			fmt.Fprintf(c.Stderr, "whd: %d values were changed to the nearest that the tables can hold\n", filled.Changed)
		}
		return err
	})
}
