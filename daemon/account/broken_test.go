package account_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

// broken is a store with an unavailable database.
type broken struct{ account.Store }

func down() error { return fault.New(fault.Unavailable, "down") }

func (broken) User(context.Context, string) (*account.User, error)       { return nil, down() }
func (broken) Session(context.Context, string) (*account.Session, error) { return nil, down() }
func (broken) Key(context.Context, string) (*account.Key, error)         { return nil, down() }
func (broken) RemoveSession(context.Context, string) error               { return down() }

// flaky is a store that fails to write uses while fails is set.
type flaky struct {
	account.Store
	fails atomic.Bool
}

func (f *flaky) Write(ctx context.Context, u account.Uses) error {
	if f.fails.Load() {
		return down()
	}
	return f.Store.Write(ctx, u)
}

func (f *flaky) RemoveExpired(ctx context.Context, before time.Time) (int64, error) {
	if f.fails.Load() {
		return 0, down()
	}
	return f.Store.RemoveExpired(ctx, before)
}
