package changes

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// database has the last reading of the ERP's database, which all kinds share.
type database struct {
	mu       sync.Mutex
	last     Database
	at       time.Time // its start
	highest  []byte    // rowversion that was seen before it
	replaced bool      // its latest rowversion is below
}

// read returns a reading of the database that began at most maxAge ago, and why it is
// another database than the one that a kind has seen; empty if it is not.
func (d *database) read(ctx context.Context, source Source, maxAge time.Duration, seen Database) (now Database, reason string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if bytes.Compare(seen.Latest, d.highest) > 0 {
		d.highest = seen.Latest
	}
	if began := time.Now(); d.at.IsZero() || began.Sub(d.at) >= maxAge {
		if now, err = source.Database(ctx); err != nil {
			return now, "", err
		}
		d.last, d.at = now, began
		if d.replaced = bytes.Compare(now.Latest, d.highest) < 0; !d.replaced {
			d.highest = now.Latest
		}
	}
	switch {
	case seen.Identity != "" && seen.Identity != d.last.Identity:
		reason = "the database is another one than before: " + d.last.Identity + " instead of " + seen.Identity
	case d.replaced:
		reason = "the database is older than before: its latest rowversion has decreased"
	}
	return d.last, reason, nil
}

// accept takes the database as it is now.
func (d *database) accept() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.highest, d.at = nil, time.Time{}
}
