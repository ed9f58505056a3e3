package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/erp"
)

// DemoTables are what demo records fill: the record kinds' tables and those of
// bills.
func DemoTables(kinds *record.Registry) []*record.Kind {
	return append(slices.Clone(kinds.Kinds()), erp.BillTables().Kinds()...)
}

// fillDemoBills gives its bills to a demo store that an earlier version filled,
// which had none. The demo key's file is the sign of such a store.
func (d *Daemon) fillDemoBills(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(d.config.DataDir, demoKeyFile)); err != nil {
		return nil
	}
	empty, err := d.store.Bills(time.UTC).Empty(ctx)
	if err != nil || !empty {
		return err
	}
	n, err := d.store.Load(ctx, erp.BillTables().Kinds(), demo.Rows)
	if err != nil {
		return fmt.Errorf("filling the store with demo bills: %w", err)
	}
	d.log.Info("demo bills loaded", "rows", n)
	return nil
}

// billCommand is a command to try that changes a custom field of a bill's stage.
func billCommand(url, key string) string {
	billID, stageID, settingID := demo.BillExample()
	return fmt.Sprintf(`curl -X PATCH -H "Authorization: Bearer %s" "%s/Bills/%s/Stages/%s/CustomFieldValues/%s" -d '{"Contents":"Assembly"}'`,
		key, url, billID, stageID, settingID)
}
