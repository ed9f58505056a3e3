package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// duplicateKeys reports whether two events of a batch have the same key.
func duplicateKeys(keys []delivery.Key) bool {
	seen := make(map[[32]byte]bool, len(keys))
	for _, k := range keys {
		seen[k.Hash] = true
	}
	return len(seen) < len(keys)
}

// IdempotencyKey implements delivery.Store.
func (e *Engine) IdempotencyKey(ctx context.Context, hash [32]byte) (*delivery.Key, error) {
	k, err := appdb.QueryOne(ctx, e.db, scanKey, `SELECT `+keyColumns.names()+` FROM whd.WH_IdempotencyKey
WHERE KeyHash = @Hash AND ExpiryDateTime > `+e.db.Clock, sql.Named("Hash", hex.EncodeToString(hash[:])))
	return k, e.fault(err, "finding an idempotency key")
}

func scanKey(row appdb.Row) (k delivery.Key, err error) {
	var hash, digest string
	if err := row.Scan(&hash, &digest, &k.Event, &k.Count, (*appdb.Time)(&k.Until)); err != nil {
		return k, err
	}
	_, badHash := hex.Decode(k.Hash[:], []byte(hash))
	_, badDigest := hex.Decode(k.Digest[:], []byte(digest))
	return k, errors.Join(badHash, badDigest)
}
