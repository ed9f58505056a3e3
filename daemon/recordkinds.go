package daemon

import (
	"context"
	"log/slog"

	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/storage"
)

// recordKinds puts the record kinds of files into effect.
type recordKinds struct {
	log     *slog.Logger
	store   *storage.Store
	source  *source.Source    // source of changes; nil without capture
	current func() *kinds.Set // in effect
}

// changed logs the mistakes in files of record kinds that have been read, creates the
// indexes that the kinds in effect declare, and removes the kinds before from caches.
func (k recordKinds) changed(before, read *kinds.Set) {
	if read == nil {
		return
	}
	for _, p := range read.Problems {
		k.log.Warn("a file of record kinds has a mistake", "problem", p.String(), "served", p.Warning)
	}
	now := k.current()
	if now != read {
		k.log.Warn("no record kind could be read from the files; the previous ones stay in effect",
			"kinds", now.Served())
		return
	}
	if before != nil && before.Registry() != now.Registry() {
		for _, kind := range before.Registry().Kinds() {
			k.store.Forget(kind)
			if k.source != nil {
				k.source.Forget(kind)
			}
		}
	}
	if before.Served()+now.Served() > 0 {
		k.log.Info("record kinds read from files", "kinds", now.Served(), "mistakes", len(now.Problems))
	}
	if names := now.MistakenNames(); names != "" {
		k.log.Warn("built-in record kinds are not served because of mistakes in files, which may require a role",
			"kinds", names)
	}
	for _, kind := range now.Registry().Kinds() {
		if err := k.store.CreateIndexes(context.Background(), kind); err != nil {
			k.log.Warn("cannot create the indexes of a record kind", "kind", kind.Name, "err", err)
		}
	}
}
