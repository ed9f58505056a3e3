package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// lend lends a connection for reading. Slow clients may hold all of them for
// long: who gets none within the time that a statement may take is told so.
func (b *mssqlRecords) lend(ctx context.Context) (*mssql.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, patience(b.config.Limits().Row))
	defer cancel()
	conn, err := b.server.Get(waiting)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case waiting.Err() != nil && !errors.Is(err, mssql.ErrLost):
		return nil, unavailable(err, "all connections to the database are in use, and none came free in time")
	}
	return nil, classify(err)
}

// patience is how long to wait for a connection where statements have such a
// limit: that, and not without end where they have none.
func patience(limit time.Duration) time.Duration { return cmp.Or(limit, 30*time.Second) }

// openPulse opens a connection that shows whether records can be read, apart
// from those that slow clients hold. There is none where records are read from
// the server that our own tables are on, since that is asked as well.
func openPulse(c Config) (*mssql.Server, error) {
	if c.ReadDSN == "" || c.ReadDSN == c.DSN {
		return nil, nil
	}
	return mssql.Open(mssql.Config{DSN: c.ReadDSN, Connections: 1})
}

func (b *mssqlRecords) ping(ctx context.Context) error {
	if b.pulse == nil {
		return nil
	}
	return b.pulse.Ping(ctx)
}

// notReady is why the store cannot be used, in the words of a query that fails
// for the same reason.
func notReady(err error) error {
	if err == nil {
		return nil
	}
	text := "the store cannot be used at the moment"
	switch f := fault.Of(classify(err)); f.Kind {
	case fault.Unavailable:
		text = f.Message
	case fault.Timeout:
		text = "the store does not answer in time"
	}
	if reason := sqlite.Reason(err); reason != "" {
		text += ": " + reason
	}
	return unavailable(err, text)
}
