package appdb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/executor"
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

// lease is one attempt of a process to migrate.
type lease struct {
	db          *DB
	holder      sql.NamedArg
	life, renew time.Duration
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
	n, err := l.db.Exec(ctx, `UPDATE whd.`+leaseTable+` SET Holder = @Holder, ExpiryDateTime = DATEADD(millisecond, @Life, SYSUTCDATETIME())
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
	_, err := l.db.Exec(ctx, `UPDATE whd.`+leaseTable+` SET Holder = NULL WHERE ID = 1 AND Holder = @Holder`, l.holder)
	return err
}
