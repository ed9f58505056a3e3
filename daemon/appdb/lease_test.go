package appdb

import (
	"context"
	"errors"
	"testing"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestSchemaText checks that CREATE SCHEMA is the first statement of its batch,
// although each statement gets a prefix.
func TestSchemaText(t *testing.T) {
	for schema, want := range map[string]string{
		"whd":   `EXEC(N'CREATE SCHEMA [whd]')`,
		"whd.x": `EXEC(N'CREATE SCHEMA [whd.x]')`,
		"a]b'c": `EXEC(N'CREATE SCHEMA [a]]b''c]')`,
	} {
		if got := schemaText(schema); got != want {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
	}
}

// TestSchemaNames creates the tables in schemas with special names.
func TestSchemaNames(t *testing.T) {
	dsn := mssqltest.Database(t)
	for _, name := range []string{"whd.x", "whd's tables", "a.b"} {
		db, err := OpenSchema(t.Context(), Config{DSN: dsn, Schema: name, LockTimeout: executor.StatementLimit})
		if err != nil {
			t.Fatal(err)
		}
		closed(t, db)
		if err := db.Migrate(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// leased creates the schema and the lease table.
func leased(t *testing.T, db *DB) *DB {
	t.Helper()
	if err := errors.Join(db.CreateSchema(t.Context()), db.createLeaseTable(t.Context())); err != nil {
		t.Fatal(err)
	}
	return db
}

// exclusion checks that only one process holds the lease at a time.
func exclusion(t *testing.T, db *DB) {
	first, second := db.newLease(), db.newLease()
	working, done := make(chan struct{}), make(chan error)
	err := first.run(t.Context(), func(ctx context.Context) error {
		go func() {
			done <- second.run(t.Context(), func(context.Context) error { close(working); return nil })
		}()
		if got, err := db.newLease().tryAcquire(ctx, `Holder IS NULL OR ExpiryDateTime < SYSUTCDATETIME()`); err != nil || got {
			t.Errorf("a third process acquired the lease: %v (%v)", got, err)
		}
		select {
		case <-working:
			t.Error("two processes hold the lease")
		default:
		}
		return nil
	})
	if err := errors.Join(err, <-done); err != nil {
		t.Error(err)
	}
}

// expiredLease checks that the lease of a dead process can be acquired once it has
// expired.
func expiredLease(t *testing.T, db *DB) {
	expired := db.newLease()
	expired.duration = 0
	if err := expired.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.newLease().run(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

// leaseLost checks that work is cancelled if another process takes the lease.
func leaseLost(t *testing.T, db *DB) {
	l := db.newLease()
	l.renewInterval = leaseRetryInterval
	err := l.run(t.Context(), func(ctx context.Context) error {
		other := db.newLease()
		if taken, err := other.tryAcquire(ctx, `1 = 1`); err != nil || !taken {
			t.Fatalf("taken %v (%v)", taken, err)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, errLeaseLost) {
		t.Errorf("got %v", err)
	}
}
