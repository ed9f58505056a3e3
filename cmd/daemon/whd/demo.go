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

// filling is the command demo.
type filling struct{ *base }

func (p filling) commands() []*urfave.Command {
	return []*urfave.Command{{
		Name: "demo", Usage: "fill an empty store with the records of a demo business; on a server it makes missing tables",
		Action: p.fillStore, Flags: p.settingFlags(reading...),
	}}
}

// fillStore puts the demo records into an empty store. They never get into tables
// that are in use.
func (p filling) fillStore(c *urfave.Context) error {
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
