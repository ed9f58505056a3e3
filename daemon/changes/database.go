package changes

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"
)

// database has the last reading of the ERP's database, which all kinds share.
type database struct {
	mu       sync.Mutex
	last     reading
	highest  []byte // highest rowversion that was seen
	replaced bool   // the latest rowversion of the last reading is lower than highest
}

// reading is a Database with the time at which it was read.
type reading struct {
	Database
	began time.Time // start of the read, on the clock of this daemon
}

// name returns the name of the database.
func (d Database) name() string {
	if end := strings.LastIndex(d.Identity, identityTime); end >= 0 {
		return d.Identity[:end]
	}
	return d.Identity
}

// identityTime precedes the time of creation in an identity.
const identityTime = " created "

// continuity is how a database is related to the one that was seen before.
type continuity int

const (
	sameDatabase  continuity = iota
	movedDatabase            // the same by its name only: it has joined an availability group, or left it
	otherDatabase
)

// continues compares a database with the one that was seen before, if there is one.
func (now Database) continues(seen Database) continuity {
	if seen.Identity == "" {
		return sameDatabase
	}
	if seen.Group != "" && now.Group != "" { // its replicas have their own times of creation
		if seen.Group != now.Group {
			return otherDatabase
		}
		return sameDatabase
	}
	if seen.Identity == now.Identity {
		return sameDatabase
	}
	// A state that an earlier version stored has no group either.
	if seen.Group != now.Group && seen.name() == now.name() {
		return movedDatabase
	}
	return otherDatabase
}

// read returns a reading of the database that began at most maxAge ago, and why it is
// another database than the one that a kind has seen; empty if it is not.
func (d *database) read(
	ctx context.Context, source Source, maxAge time.Duration, seen Database,
) (now reading, reason string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if bytes.Compare(seen.Latest, d.highest) > 0 {
		d.highest = seen.Latest
	}
	if d.last.began.IsZero() || time.Since(d.last.began) >= maxAge {
		if err := d.refresh(ctx, source); err != nil {
			return reading{}, "", err
		}
	}
	if d.last.continues(seen) == otherDatabase {
		reason = "the database is another one than before: " +
			d.last.Identity + " instead of " + seen.Identity
		return d.last, reason, nil
	}
	if d.replaced {
		return d.last, "the database is older than before: its latest rowversion has decreased", nil
	}
	return d.last, "", nil
}

// refresh makes a new reading. The lock is held.
func (d *database) refresh(ctx context.Context, source Source) error {
	began := time.Now()
	current, err := source.Database(ctx)
	if err != nil {
		return err
	}
	d.last = reading{Database: current, began: began}
	d.replaced = bytes.Compare(current.Latest, d.highest) < 0
	if !d.replaced {
		d.highest = current.Latest
	}
	return nil
}

// accept takes the database as it is now.
func (d *database) accept() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.highest = nil
	d.last.began = time.Time{}
}
