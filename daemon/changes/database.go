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
	last     reading
	highest  []byte // rowversion that was seen before it
	replaced bool   // its latest rowversion is below
}

// reading is a Database with the time at which it was read.
type reading struct {
	Database
	began time.Time // of the read, on the clock of this daemon
}

// read returns a reading of the database that began at most maxAge ago, and why it is
// another database than the one that a kind has seen; empty if it is not.
func (d *database) read(ctx context.Context, source Source, maxAge time.Duration, seen Database) (now reading, reason string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if bytes.Compare(seen.Latest, d.highest) > 0 {
		d.highest = seen.Latest
	}
	if d.last.began.IsZero() || time.Since(d.last.began) >= maxAge {
		began := time.Now()
		current, err := source.Database(ctx)
		if err != nil {
			return reading{}, "", err
		}
		d.last = reading{Database: current, began: began}
		d.replaced = bytes.Compare(current.Latest, d.highest) < 0
		if !d.replaced {
			d.highest = current.Latest
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
	d.highest = nil
	d.last.began = time.Time{}
}
