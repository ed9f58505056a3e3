package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/mssql"
)

// Daemons that start at the same moment migrate the same schema of a server,
// and goose takes no lock there. A row says who does, until when: a lock that
// needs nothing but UPDATE, and that a daemon which dies leaves to the others.
// The clock is the server's.

const leaseTable = "WH_MigrationLease"

const (
	leaseLife  = 30 * time.Second
	leaseRenew = 5 * time.Second
	leaseWait  = 100 * time.Millisecond // between two attempts to get it
)

var errLeaseLost = errors.New("another process has taken over the migration, since this one did not renew its lease")

// makeSchema makes the schema if it is missing.
func (o *ownDB) makeSchema(ctx context.Context) error {
	there := func() (bool, error) {
		n, err := found(ctx, o, scanInt, `SELECT CASE WHEN SCHEMA_ID(@Name) IS NULL THEN 0 ELSE 1 END`, sql.Named("Name", o.schema))
		return err == nil && *n > 0, err
	}
	err := o.ensure(ctx, there, `CREATE SCHEMA `+mssql.Quote(o.schema))
	if err == nil {
		return nil
	}
	return fmt.Errorf("the schema %s is missing and could not be made; let somebody who may do so run CREATE SCHEMA %s AUTHORIZATION ... for the login that whd uses: %w",
		o.schema, mssql.Quote(o.schema), err)
}

func (o *ownDB) makeLease(ctx context.Context) error {
	err := o.ensure(ctx, func() (bool, error) { return o.hasTable(ctx, leaseTable) },
		`CREATE TABLE whd.`+leaseTable+` (ID int NOT NULL PRIMARY KEY, Holder nvarchar(32) NULL, ExpiryDateTime datetime2(7) NOT NULL)`)
	if err != nil {
		return err
	}
	_, err = o.exec(ctx, `INSERT INTO whd.`+leaseTable+` (ID, Holder, ExpiryDateTime)
SELECT 1, NULL, SYSUTCDATETIME() WHERE NOT EXISTS (SELECT 1 FROM whd.`+leaseTable+`)`)
	if duplicate(err) {
		return nil
	}
	return err
}

// ensure runs a statement that makes something unless it is there. Who does so
// at the same time as another one fails, in any way, and finds it made.
func (o *ownDB) ensure(ctx context.Context, there func() (bool, error), statement string) error {
	var failed error
	for range attempts {
		is, err := there()
		if err != nil || is {
			return err
		}
		if _, failed = o.exec(ctx, statement); failed == nil {
			return nil
		}
		if err := rest(ctx, leaseWait); err != nil {
			return err
		}
	}
	return failed
}

// underLease waits for the lease and works while it is held.
func (o *ownDB) underLease(ctx context.Context, work func(context.Context) error) error {
	if err := o.makeLease(ctx); err != nil {
		return err
	}
	holder := sql.Named("Holder", rand.Text())
	for {
		got, err := o.takeLease(ctx, `Holder IS NULL OR ExpiryDateTime < SYSUTCDATETIME()`, holder)
		if err != nil {
			return err
		}
		if got {
			break
		}
		if err := rest(ctx, leaseWait); err != nil {
			return err
		}
	}
	working, lose := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		o.renewLease(working, lose, holder)
	}()
	err := work(working)
	if cause := context.Cause(working); cause != nil {
		err = cause
	}
	lose(nil)
	<-renewed
	return errors.Join(err, o.giveLease(context.WithoutCancel(ctx), holder))
}

// takeLease takes or prolongs the lease under a condition.
func (o *ownDB) takeLease(ctx context.Context, condition string, holder sql.NamedArg) (bool, error) {
	n, err := o.exec(ctx, `UPDATE whd.`+leaseTable+` SET Holder = @Holder, ExpiryDateTime = DATEADD(second, @Seconds, SYSUTCDATETIME())
WHERE ID = 1 AND (`+condition+`)`, holder, sql.Named("Seconds", int64(leaseLife/time.Second)))
	return n > 0, err
}

// renewLease prolongs the lease until ctx ends. What it cannot prolong in time
// is lost.
func (o *ownDB) renewLease(ctx context.Context, lose context.CancelCauseFunc, holder sql.NamedArg) {
	until := time.Now().Add(leaseLife)
	for rest(ctx, leaseRenew) == nil {
		now := time.Now()
		held, err := o.takeLease(ctx, `Holder = @Holder`, holder)
		switch {
		case err == nil && held:
			until = now.Add(leaseLife)
		case err == nil, time.Now().After(until):
			lose(errLeaseLost)
			return
		}
	}
}

func (o *ownDB) giveLease(ctx context.Context, holder sql.NamedArg) error {
	_, err := o.exec(ctx, `UPDATE whd.`+leaseTable+` SET Holder = NULL WHERE ID = 1 AND Holder = @Holder`, holder)
	return err
}
