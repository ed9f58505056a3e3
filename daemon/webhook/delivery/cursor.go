package delivery

import (
	"slices"
	"time"
)

// cursors are those of a queue, one for each leased partition.
type cursors []*cursor

// of returns the cursor of a partition, nil if it is not leased.
func (cs cursors) of(partition int64) *cursor {
	for _, c := range cs {
		if c.partition == partition {
			return c
		}
	}
	return nil
}

// next returns a cursor at which there may be messages to read now, nil if there is none.
func (cs cursors) next(now time.Time) *cursor {
	for _, c := range cs {
		if c.mayRefill(now) {
			return c
		}
	}
	return nil
}

// rewind restarts all cursors at the first message.
func (cs cursors) rewind() {
	for _, c := range cs {
		c.rewind()
	}
}

// setPartitions removes the cursors of lost partitions and adds cursors for new ones. It reports
// whether a partition was lost.
func (cs *cursors) setPartitions(held []Lease) bool {
	before := len(*cs)
	*cs = slices.DeleteFunc(*cs, func(c *cursor) bool { return !holds(held, c.partition) })
	lost := len(*cs) < before
	for _, lease := range held {
		if cs.of(lease.Partition) == nil {
			*cs = append(*cs, &cursor{partition: lease.Partition})
		}
	}
	return lost
}

// cursor is the position up to which a queue has read one partition in the store.
type cursor struct {
	partition    int64
	position     Position
	atEnd        bool      // no due messages after position
	wake         time.Time // when a later message is due, zero for never
	firstEvicted Position  // the first message evicted while a page is read; ID 0 for none

	// Positions at markedAt, and lateCommitDelay earlier or before that: other daemons may
	// add messages with lower IDs than position, but not lower than safe.
	mark, safe Position
	markedAt   time.Time
}

// rewind restarts at the first message.
func (c *cursor) rewind() {
	c.position = Position{}
	c.atEnd = false
	c.wake = time.Time{}
}

// rewindRecent restarts where messages of other daemons may have become visible since they
// were passed.
func (c *cursor) rewindRecent() {
	c.atEnd = false
	if c.safe.before(c.position, true) {
		c.position = c.safe
	}
}

// rewindTo moves the cursor back, if necessary, to read the message at a position.
func (c *cursor) rewindTo(p Position, byID bool) {
	c.wake = earliest(c.wake, p.Next)
	if !c.position.before(p, byID) {
		c.position = Position{Next: p.Next, ID: p.ID - 1}
	}
}

// lateCommitDelay is the maximum time from the allocation of a message's ID until other
// daemons are notified of the message.
const lateCommitDelay = time.Minute

// markSafe records the position.
func (c *cursor) markSafe(now time.Time) {
	if now.Sub(c.markedAt) <= lateCommitDelay {
		return
	}
	c.safe = c.mark
	c.mark = c.position
	c.markedAt = now
}

// page returns the next page of a subscription's messages. Those that arrive or are evicted while
// it is read are noted from now on.
func (c *cursor) page(subscription int64, byID bool, now time.Time, limit int) Page {
	c.atEnd = false
	c.wake = time.Time{}
	c.firstEvicted = Position{}
	return Page{
		Partition:    c.partition,
		Subscription: subscription,
		After:        c.position,
		Until:        now,
		InOrder:      byID,
		Limit:        limit,
	}
}

// mayRefill reports whether there may be messages to read now.
func (c *cursor) mayRefill(now time.Time) bool {
	return !c.atEnd || !c.wake.IsZero() && !c.wake.After(now)
}
