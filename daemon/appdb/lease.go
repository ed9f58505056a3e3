package appdb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// Daemons that start at the same time migrate the same schema on SQL Server, and
// goose takes no lock there. The lease is a row with a holder and an expiry time:
// it needs only UPDATE, and expires if its daemon dies. The clock is the server's.

const leaseTable = "WH_MigrationLease"

const (
	leaseDuration      = 30 * time.Second
	leaseRenewInterval = 5 * time.Second
	leaseRetryInterval = 100 * time.Millisecond // between two attempts to acquire it
)

var errLeaseLost = errors.New("another process took over the migration" +
	" because this one did not renew its lease in time")

// lease is the right of a process to migrate.
type lease struct {
	db                      *DB
	holder                  sql.NamedArg
	duration, renewInterval time.Duration
}

// run waits for the lease and calls work while it is held. The context of work is
// cancelled if the lease is lost.
func (l *lease) run(ctx context.Context, work func(context.Context) error) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	working, lose := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		l.renew(working, lose)
	}()
	err := work(working)
	if lost := context.Cause(working); err != nil && lost != nil {
		err = lost
	}
	lose(nil)
	<-renewed
	return errors.Join(err, l.release(context.WithoutCancel(ctx)))
}

func (l *lease) acquire(ctx context.Context) error {
	for {
		acquired, err := l.tryAcquire(ctx, `Holder IS NULL OR ExpiryDateTime < SYSUTCDATETIME()`)
		if err != nil || acquired {
			return err
		}
		if err := backoff.Sleep(ctx, leaseRetryInterval); err != nil {
			return err
		}
	}
}

// tryAcquire acquires or extends the lease if the condition holds.
func (l *lease) tryAcquire(ctx context.Context, condition string) (bool, error) {
	statement := `UPDATE whd.` + leaseTable + `
SET Holder = @Holder, ExpiryDateTime = DATEADD(millisecond, @Life, SYSUTCDATETIME())
WHERE ID = 1 AND (` + condition + `)`
	n, err := l.db.Exec(ctx, statement, l.holder, sql.Named("Life", l.duration.Milliseconds()))
	return n > 0, err
}

// renew extends the lease until ctx is done. If it cannot extend the lease in time,
// it calls lose.
func (l *lease) renew(ctx context.Context, lose context.CancelCauseFunc) {
	expiry := time.Now().Add(l.duration)
	for backoff.Sleep(ctx, l.renewInterval) == nil {
		now := time.Now()
		held, err := l.tryAcquire(ctx, `Holder = @Holder`)
		if held && err == nil {
			expiry = now.Add(l.duration)
			continue
		}
		if err == nil || time.Now().After(expiry) {
			lose(errLeaseLost)
			return
		}
	}
}

func (l *lease) release(ctx context.Context) error {
	const statement = `UPDATE whd.` + leaseTable + ` SET Holder = NULL WHERE ID = 1 AND Holder = @Holder`
	_, err := l.db.Exec(ctx, statement, l.holder)
	return err
}
