// Package delivery is the engine that delivers events. A published event becomes
// one durable message for each matching subscription, and each message is sent
// until it succeeds, runs out of attempts, or is deleted.
//
// The way of an event: the publisher adds it to what is pending, from which the
// batchWriter matches it with the subscriptions and writes events, messages and
// results of attempts in batches, each one transaction. What is committed goes into
// the queue of its subscription, one of the queueSet. The dispatcher gives the queues
// turns under a limit for all; a Sender makes one attempt; webhook.Decide says what
// becomes of the message, and the next batch writes that.
//
// The store is the only truth. Memory holds a window of each queue, which the
// refiller fills from the store, from where the queue's cursors are. One budget
// bounds all windows: the body of an event counts once, and a failing endpoint
// keeps nothing in memory but the attempt that is under way.
//
// Messages belong to a partition, and a daemon leases partitions (leaseKeeper).
// Taking over the work of a daemon that died is leasing its partition: one row,
// however many messages. Each lease has a fencing number, and what is written
// under an old one changes nothing. Daemons that share a store learn of each other's
// changes through it (peers, subscriptionCache).
//
// # Locks
//
// A lock is taken only while holding locks to its left:
//
//	leaseKeeper.mu, subscriptionCache.refreshing -> queueSet.mu -> pending.mu
//
// leaseKeeper.mu is held while the leases change, refreshing (a semaphore) while
// changed subscriptions are read; neither is taken under the other. Both are held
// across calls of the store, and leaseKeeper.mu also while the writer waits to lease
// a partition in the place of one that it lost.
//
// queueSet.mu guards the queues with all that is in them, the budget, the leases, the
// turns of dispatcher and refiller, and the number of attempts. No call of the store
// or of the sender is made under it, and no callback of Config but Policy. The
// functions that expect it held say so; those of queue, window, endpoint, budget and
// tier all do. Under it, pending.mu is taken to ask how many outcomes wait and to
// note the health of subscriptions. The clock and the snapshot of subscriptions are
// atomic pointers, of which the latter is changed under queueSet.mu.
//
// The locks of the recorder, the backlogCounter, the readiness and the map of
// idempotency keys are taken alone. A caller that publishes under an idempotency key
// holds that key until the event is durable; nothing that the writer waits for takes
// a key.
//
// # Goroutines
//
// One each, from Start to Stop: batchWriter, refiller, subscriptionCache, janitor and
// backlogCounter. With leases also leaseKeeper and two of peers (events, and changes
// while a stream is read); with an outbox outboxReader. One for each attempt under
// way, which goes on with the next message while there is one, and one for each
// subscription about to be disabled (judge). Timers wake a queue (one for each
// queue) and let all queues look again after a failed write (rewind).
//
// They wait for each other in one direction: publishers and the outboxReader for the
// batchWriter, requests for the backlog for the backlogCounter. Channels that wake a
// goroutine hold one signal and are never waited for by the sender; each publication
// has a channel with room for its one reply.
//
// Stop waits for attempts, then for the batchWriter, then for the others.
package delivery
