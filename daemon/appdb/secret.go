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
	const (
		partSize = 8 // bytes in a row
		insert   = `INSERT INTO whd.WH_Number (Name, Next)
SELECT @Name, @Next WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = @Name)`
		read = `SELECT Next FROM whd.WH_Number WHERE Name = @Name`
	)
	_, _ = rand.Read(secret[:]) // never fails
	for i := 0; i < len(secret); i += partSize {
		part := secret[i : i+partSize]
		row := sql.Named("Name", fmt.Sprint(name, i/partSize))
		_, err := o.Exec(ctx, insert, row, sql.Named("Next", int64(binary.LittleEndian.Uint64(part))))
		if err != nil && !executor.IsDuplicate(err) { // another daemon may insert the same row
			return secret, o.Fault(err, "storing a secret")
		}
		n, err := QueryOne(ctx, o, ScanInt, read, row)
		if err != nil || n == nil {
			return secret, o.Fault(cmp.Or(err, sql.ErrNoRows), "reading a secret")
		}
		binary.LittleEndian.PutUint64(part, uint64(*n))
	}
	return secret, nil
}
