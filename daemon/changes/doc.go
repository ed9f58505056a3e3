// Package changes finds the changes of record kinds in the ERP's database, with nothing but
// the right to read it. It compares rows with a shadow, which remembers a hash of each row,
// records the differences, publishes events for them, and lets followers read them in order.
//
// Capture is of state: several updates between two reads are one change. The order is exact
// for one key, and undefined between keys and kinds.
//
// # Flow
//
// A capture reads rows (a page of a sweep, of a poll, or rows by their keys), compares
// them with their entries in the shadow, writes the differences in groups, and only then
// reads again:
//
//	Source.Read -> Store.Find -> rows.compare -> writer.add -> Publisher.PublishCaptured -> Store.Put
//
// A sweep looks at all rows, and at last at the keys of the shadow that no page had. Polls
// find new stamps sooner. Notes of copies have rows read again. Rows are dropped if
// the source fails before it is written; if the store fails or the lease was lost, all that
// the capture knows is dropped, and read again from the store (capture.begin).
//
// # Goroutines
//
// Capturer.Run is one goroutine, which starts and stops one more for each kind that is
// captured (capture.run). They run only while this daemon holds the lease of the
// coordinator. Between steps a capture waits for a time, a note (capture.wake) or an
// administrator (capture.resume). Followers and copies run in the goroutines of their
// requests and wait for a channel of Capturer.changed, closed after each group and when the
// capture ends.
//
//	Run --start, stop--> capture.run (one for each kind) --followers.notify--> Feed, Copy
//	Need --wake--> Run        Copy --wake--> capture.run       Resume --resume--> capture.run
//
// A capture takes the turn (a channel with room for one) for a sweep and leaves it after
// the sweep or a failure; it never waits for it. All fields of a capture but its channels
// and its status belong to its goroutine.
//
// # Locks
//
// Capturer.mu guards the fence of the lease and the captures. statusBox.mu, one for each
// capture, is acquired under it. needs.mu, followers.mu and share.mu are acquired alone.
// database.mu is acquired alone and held while the database is identified, so that kinds
// that need it at the same time share one statement. No lock is held across calls of the
// store.
package changes
