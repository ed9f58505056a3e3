package appdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"fmt"

	"github.com/bizhook/whd/daemon/executor"
)

// Secret returns a random secret of the service, which it makes once. It is stored as the
// numbers of four rows, so that backups, copies and all daemons have it.
func Secret(ctx context.Context, o *DB, name string) (secret [32]byte, err error) {
	_, _ = rand.Read(secret[:]) // never fails
	for i := 0; i < len(secret); i += 8 {
		part := sql.Named("Name", fmt.Sprint(name, i/8))
		_, err := o.Exec(ctx, `INSERT INTO whd.WH_Number (Name, Next) SELECT @Name, @Next WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = @Name)`,
			part, sql.Named("Next", int64(binary.LittleEndian.Uint64(secret[i:]))))
		if err != nil && !executor.IsDuplicate(err) { // of another daemon
			return secret, o.Fault(err, "storing a secret")
		}
		n, err := QueryOne(ctx, o, ScanInt, `SELECT Next FROM whd.WH_Number WHERE Name = @Name`, part)
		if err != nil || n == nil {
			return secret, o.Fault(cmp.Or(err, sql.ErrNoRows), "reading a secret")
		}
		binary.LittleEndian.PutUint64(secret[i:], uint64(*n))
	}
	return secret, nil
}
