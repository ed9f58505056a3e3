package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/executor"
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
	err := o.ensure(ctx, there, o.before+schemaText(o.schema))
	if _, refused := errors.AsType[*mssql.Error](err); !refused {
		return err
	}
	return fmt.Errorf("the schema %s is missing and could not be made; let somebody who may do so run CREATE SCHEMA %s AUTHORIZATION ... for the login that whd uses: %w",
		o.schema, mssql.Quote(o.schema), err)
}

// schemaText is a batch of its own wherever it stands, since SQL Server makes a
// schema only in the first statement of one.
func schemaText(schema string) string {
	return `EXEC(N'CREATE SCHEMA ` + strings.ReplaceAll(mssql.Quote(schema), `'`, `''`) + `')`
}

func (o *ownDB) makeLease(ctx context.Context) error {
	err := o.ensure(ctx, func() (bool, error) { return o.hasTable(ctx, leaseTable) },
		o.text(`CREATE TABLE whd.`+leaseTable+` (ID int NOT NULL PRIMARY KEY, Holder nvarchar(32) NULL, ExpiryDateTime datetime2(7) NOT NULL)`))
	if err != nil {
		return err
	}
	_, err = o.exec(ctx, `INSERT INTO whd.`+leaseTable+` (ID, Holder, ExpiryDateTime)
SELECT 1, NULL, SYSUTCDATETIME() WHERE NOT EXISTS (SELECT 1 FROM whd.`+leaseTable+`)`)
	if executor.IsDuplicate(err) {
		return nil
	}
	return err
}

// ensure runs what makes something unless it is there. Who does so at the same
// time as another one fails, in any way, and finds it made.
func (o *ownDB) ensure(ctx context.Context, there func() (bool, error), text string) error {
	var failed error
	for range executor.MaxAttempts {
		is, err := there()
		if err != nil || is {
			return err
		}
		if _, failed = o.execText(ctx, text); failed == nil {
			return nil
		}
		if err := executor.Sleep(ctx, leaseWait); err != nil {
			return err
		}
	}
	return failed
}

// lease is one attempt of a process to migrate.
type lease struct {
	own         *ownDB
	holder      sql.NamedArg
	life, renew time.Duration
}

func (o *ownDB) newLease() *lease {
	return &lease{own: o, holder: sql.Named("Holder", rand.Text()), life: leaseLife, renew: leaseRenew}
}

// during waits for the lease and works while it is held.
func (l *lease) during(ctx context.Context, work func(context.Context) error) error {
	if err := l.await(ctx); err != nil {
		return err
	}
	working, lose := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		l.keep(working, lose)
	}()
	err := work(working)
	if lost := context.Cause(working); err != nil && lost != nil {
		err = lost
	}
	lose(nil)
	<-kept
	return errors.Join(err, l.give(context.WithoutCancel(ctx)))
}

func (l *lease) await(ctx context.Context) error {
	for {
		got, err := l.take(ctx, `Holder IS NULL OR ExpiryDateTime < SYSUTCDATETIME()`)
		if err != nil || got {
			return err
		}
		if err := executor.Sleep(ctx, leaseWait); err != nil {
			return err
		}
	}
}

// take takes or prolongs the lease under a condition.
func (l *lease) take(ctx context.Context, condition string) (bool, error) {
	n, err := l.own.exec(ctx, `UPDATE whd.`+leaseTable+` SET Holder = @Holder, ExpiryDateTime = DATEADD(millisecond, @Life, SYSUTCDATETIME())
WHERE ID = 1 AND (`+condition+`)`, l.holder, sql.Named("Life", l.life.Milliseconds()))
	return n > 0, err
}

// keep prolongs the lease until ctx ends. What it cannot prolong in time is
// lost.
func (l *lease) keep(ctx context.Context, lose context.CancelCauseFunc) {
	until := time.Now().Add(l.life)
	for executor.Sleep(ctx, l.renew) == nil {
		now := time.Now()
		held, err := l.take(ctx, `Holder = @Holder`)
		switch {
		case err == nil && held:
			until = now.Add(l.life)
		case err == nil, time.Now().After(until):
			lose(errLeaseLost)
			return
		}
	}
}

func (l *lease) give(ctx context.Context) error {
	_, err := l.own.exec(ctx, `UPDATE whd.`+leaseTable+` SET Holder = NULL WHERE ID = 1 AND Holder = @Holder`, l.holder)
	return err
}
