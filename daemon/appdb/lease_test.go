package appdb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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
			t.Errorf("the statement for %s is %s, want %s", schema, got, want)
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
			t.Errorf("migrating the schema %s: %v", name, err)
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Errorf("Ready of the schema %s: %v", name, err)
		}
	}
}

// leased opens a new schema with the lease table.
func leased(t *testing.T, dsn string) *DB {
	t.Helper()
	db := onServer(t, dsn)()
	if err := db.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.createLeaseTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestLeaseExcludesOthers checks that others wait while a process holds the lease.
func TestLeaseExcludesOthers(t *testing.T) {
	db := leased(t, mssqltest.Database(t))
	var firstWorks atomic.Bool
	second := make(chan error, 1)
	err := db.newLease().run(t.Context(), func(ctx context.Context) error {
		firstWorks.Store(true)
		defer firstWorks.Store(false)
		go func() {
			second <- db.newLease().run(t.Context(), func(context.Context) error {
				if firstWorks.Load() {
					return errors.New("two processes hold the lease")
				}
				return nil
			})
		}()

		// The second process may not have started yet, so a third one tries here, several times.
		waiting, cancel := context.WithTimeout(ctx, 5*leaseRetryInterval)
		defer cancel()
		if err := db.newLease().acquire(waiting); err == nil {
			t.Error("a third process acquired the lease while the first held it, want an error after waiting")
		}
		return nil
	})
	if err != nil {
		t.Fatalf("the first process: %v", err) // the second may not have been started
	}
	if err := <-second; err != nil {
		t.Errorf("the second process: %v", err)
	}
}

// TestExpiredLease checks that the lease of a dead process can be acquired once it has
// expired.
func TestExpiredLease(t *testing.T) {
	db := leased(t, mssqltest.Database(t))
	expired := db.newLease()
	expired.duration = 0
	if err := expired.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.newLease().run(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("acquiring an expired lease: %v", err)
	}
}

// TestLostLease checks that work is cancelled if another process takes the lease.
func TestLostLease(t *testing.T) {
	db := leased(t, mssqltest.Database(t))
	l := db.newLease()
	l.renewInterval = leaseRetryInterval
	err := l.run(t.Context(), func(ctx context.Context) error {
		taken, err := db.newLease().tryAcquire(ctx, `1 = 1`)
		if err != nil || !taken {
			return fmt.Errorf("taking the lease away: %v (%w)", taken, err)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, errLeaseLost) {
		t.Errorf("work without the lease returned %v, want errLeaseLost", err)
	}
}
