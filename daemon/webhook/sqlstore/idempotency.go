package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

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

// IdempotencyKey returns a key by its hash, nil if there is none. One that has expired counts as none,
// even before it is deleted.
func (e *Engine) IdempotencyKey(ctx context.Context, hash [32]byte) (*delivery.Key, error) {
	query := `SELECT ` + keyColumns.names() + ` FROM whd.WH_IdempotencyKey
WHERE KeyHash = @Hash AND ExpiryDateTime > ` + e.db.Clock
	k, err := appdb.QueryOne(ctx, e.db, scanKey, query, sql.Named("Hash", hex.EncodeToString(hash[:])))
	return k, e.fault(err, "finding an idempotency key")
}

func scanKey(row appdb.Row) (delivery.Key, error) {
	var k delivery.Key
	var hash, digest string
	err := row.Scan(&hash, &digest, &k.Event, &k.Count, (*appdb.Time)(&k.Until))
	if err != nil {
		return k, err
	}
	return k, errors.Join(decodeHash(&k.Hash, hash), decodeHash(&k.Digest, digest))
}

// decodeHash decodes a stored hash.
func decodeHash(hash *[32]byte, text string) error {
	if len(text) != hex.EncodedLen(len(hash)) {
		return fmt.Errorf("a stored hash has %d characters instead of %d", len(text), hex.EncodedLen(len(hash)))
	}
	_, err := hex.Decode(hash[:], []byte(text))
	return err
}
