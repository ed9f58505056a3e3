package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/storage"
)

// DemoTables returns the tables that demo records fill: the tables of the record kinds and of
// bills.
func DemoTables() []*record.Kind {
	return append(slices.Clone(demo.Kinds().Kinds()), erp.BillTables().Kinds()...)
}

// demoRecords fills a new store with demo records, if configured.
type demoRecords struct {
	config config.Config
	log    *slog.Logger
	store  *storage.Store
	disk   datadir.Disk
}

// load loads demo records into an empty store. It adds bills to a demo store that
// a version without bills created; the demo key's file marks a demo store.
func (d demoRecords) load(ctx context.Context) error {
	if !d.config.Demo {
		return nil
	}
	isEmpty, err := d.store.Empty(ctx)
	if err != nil {
		return err
	}
	if isEmpty {
		return d.loadAll(ctx)
	}
	if !isDemoStore(d.config) {
		return nil
	}
	hasNoBills, err := d.store.Bills(time.UTC).Empty(ctx)
	if err != nil || !hasNoBills {
		return err
	}
	return d.loadTables(ctx, "bills", erp.BillTables().Kinds())
}

// isDemoStore reports whether the store was created with demo records.
func isDemoStore(c config.Config) bool {
	_, err := os.Stat(secretPath(c, demoKeyFile))
	return err == nil
}

// loadAll loads all demo records. The mark of a demo store is written first, so that a
// start after a power failure completes the demo.
func (d demoRecords) loadAll(ctx context.Context) error {
	path := secretPath(d.config, demoKeyFile)
	if err := writeSecret(d.disk, path, ""); err != nil {
		return err
	}
	if err := d.loadTables(ctx, "records", DemoTables()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// loadTables loads the demo rows of tables.
func (d demoRecords) loadTables(ctx context.Context, content string, tables []*record.Kind) error {
	n, err := d.store.Load(ctx, tables, demo.Rows)
	if err != nil {
		return fmt.Errorf("loading demo %s: %w", content, err)
	}
	d.log.Info("demo "+content+" loaded", "rows", n)
	return nil
}
