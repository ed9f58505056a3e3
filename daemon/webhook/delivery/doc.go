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
//	leasing, refreshing -> Engine.mu -> pending.mu
//
// leasing is held while the leases change, refreshing (a semaphore) while changed
// subscriptions are read; neither is taken under the other. Both are held across
// calls of the store, and leasing also while the writer waits to lease a partition
// in the place of one that it lost.
//
// Engine.mu guards the queues with all that is in them, the budget, the leases, the
// number of attempts and what Ready reports; no call of the store or of the sender
// is made under it, and no callback of Config. The functions that expect it held say so.
// Under it, pending.mu is taken to ask how many outcomes wait and to note the health
// of subscriptions. The clock is an atomic pointer.
//
// The locks of the recorder, the backlog counter and the map of idempotency keys are
// taken alone. Whoever publishes under an idempotency key holds that key until the
// event is durable; nothing that the writer waits for takes a key. The snapshot of
// subscriptions is an atomic pointer, changed under Engine.mu.
//
// # Goroutines
//
// One each, from Start to Stop: writing (batches), refilling (pages), watching
// (changed subscriptions), pruning (removal of old messages), counting (the
// backlog). With leases also keeping (renewals and takeovers), pollingPeers (other
// daemons' events) and followingChanges (other daemons' changes, while a stream is
// read); with an outbox readingOutbox. One for each attempt under way, which goes on
// with the next message while there is one, and one for each subscription about to be
// disabled (judge). Timers wake a queue (awake, one timer for each queue) and let all
// queues look again after a failed write (rewind).
//
// They wait for each other in one direction: publishers and readingOutbox for writing,
// requests for the backlog for counting. Channels that wake a goroutine hold one
// signal and are never waited for by the sender; each publication has a channel with
// room for its one reply.
//
// Stop waits for attempts, then for the writer, then for the others.
package delivery
