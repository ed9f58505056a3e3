// Package delivery is the engine that delivers events. A published event becomes
// one durable message for each matching subscription, and each message is sent
// until it succeeds, runs out of attempts, or is deleted.
//
// The way of an event: publish.go adds it to batch.go, from which writer.go
// matches it with the subscriptions and writes events, messages and results of
// attempts in batches, each one transaction. What is committed goes into the
// queue of its subscription (queue.go). dispatch.go gives the queues turns under a
// limit for all; a Sender makes one attempt; webhook.Decide says what becomes of
// the message, and the next batch writes that.
//
// The store is the only truth. Memory holds a window of each queue, which
// cursor.go fills from the store. One budget bounds all of them (budget.go): the
// body of an event counts once, and a failing endpoint keeps nothing in memory
// but the attempt that is under way.
//
// Messages belong to a partition, and a daemon leases partitions (lease.go).
// Taking over the work of a daemon that died is leasing its partition: one row,
// however many messages. Each lease has a fencing number, and what is written
// under an old one changes nothing.
//
// # Locks
//
// A lock is taken only while holding locks to its left:
//
//	leasing, refreshing -> Engine.mu -> pending.mu, clock.mu
//
// leasing is held while the leases change, refreshing (a semaphore) while changed
// subscriptions are read; neither is taken under the other. Engine.mu guards the
// queues with all that is in them, the budget and the leases; no call of the store
// or of the sender is made under it. The locks of the recorder, the backlog
// counter and the idempotency keys are taken alone. The snapshot of subscriptions
// is an atomic pointer, changed under Engine.mu.
//
// # Goroutines
//
// One each, from Start to Stop: writing (batches), refilling (pages), watching
// (changed subscriptions), pruning (removal of old messages), counting (the
// backlog). With leases also keeping (renewals and takeovers), pollingPeers (other
// daemons' events) and followingChanges (other daemons' changes, while a stream is read);
// with an outbox readingOutbox. One for each attempt under way, which goes on with the
// next message while there is one, and one for each subscription about to be
// disabled (judge). Timers wake a queue (awake) and let all queues look again after
// a failed write (rewind). Stop waits for attempts, then for the writer, then for
// the others.
package delivery
