// Package delivery is the engine that delivers events. A published event becomes
// one durable message for each matching subscription. Each message is sent until it
// succeeds, has no attempts left, or is deleted.
//
// The path of an event: the publisher adds it to the pending work. The batchWriter
// matches pending events with subscriptions and writes events, messages and results of
// attempts in batches, each in one transaction. Committed messages are added to the
// queue of their subscription, one of the queueSet. The dispatcher starts attempts for
// the queues in turn, up to a common limit; a Sender makes one attempt; webhook.Decide
// computes the message's next state, which is written with a later batch.
//
// The store is the source of truth. Memory holds a window of each queue, which the
// refiller reads from the store, starting at the queue's cursors. One budget limits all
// windows: the body of an event counts once, and a failing endpoint keeps only the
// message of its current attempt in memory.
//
// Statistics come from the store, too: each batch counts the rows that it stores, by minute. They
// are those of all daemons. Memory has only the totals since the start, for metrics.
//
// A queue that is ordered by key has a sequence for each key with open messages: only the
// first of them may be attempted. Since such a queue reads its messages in the order of
// their IDs, the first one that it reads of a key is the first one. The others wait behind
// it in memory, up to a limit, or in the store, from which they are read by their key.
//
// Messages belong to a partition, and a daemon leases partitions (leaseKeeper). To take
// over the work of a dead daemon, another one leases its partition: this changes one
// row, regardless of the number of messages. Each lease has a fencing number, and
// writes under an outdated lease are rejected. Daemons that share a store read each
// other's changes from it (peers, subscriptionCache).
//
// # Locks
//
// A lock is only acquired while holding locks to its left:
//
//	leaseKeeper.mu, subscriptionCache.refreshing -> queueSet.mu -> pending.mu, retargeter.mu
//
// leaseKeeper.mu is held while the leases change, refreshing (a semaphore) while
// changed subscriptions are read; neither is acquired under the other. Both are held
// across calls of the store. leaseKeeper.mu is also held while the writer waits to
// lease a partition that replaces a lost one.
//
// queueSet.mu guards the queues with all their state, the budget, the leases, the
// rotation of dispatcher and refiller, and the number of attempts. Neither the store
// nor the sender is called under it, and of the callbacks of Config only Policy.
// Functions that expect it to be held are documented as such, except for those of
// queue and its parts, endpoint, budget and tier, which all do. pending.mu is acquired under
// it to record results and the health of subscriptions, retargeter.mu to queue a subscription
// with a new URL. The clock and the snapshot of subscriptions are atomic pointers; the latter
// is changed under queueSet.mu.
//
// The locks of the recorder, the backlogCounter, the readiness and the map of
// idempotency keys are acquired alone. A caller that publishes under an idempotency key
// holds that key until the event is durable; the writer never waits for a key.
//
// # Goroutines
//
// One each, from Start to Stop: batchWriter, refiller, subscriptionCache, janitor,
// backlogCounter and retargeter. With leases also leaseKeeper and two of peers (events, and changes
// while a stream is open), without leases followClock; with an outbox outboxReader.
// One for each running attempt, which continues with the next message as long as there
// is one, and one for each subscription that may have to be disabled (disableIfFailing).
// Timers wake queues (one for each queue), make all queues read the store again after a
// failed write (rewind), and publish events about an endpoint that had to wait.
//
// They wait for each other in one direction: publishers and the outboxReader for the
// batchWriter, requests for the backlog for the backlogCounter. Channels that wake a
// goroutine hold one signal, and sending to them never blocks; each publication has a
// channel with room for its one result.
//
// Stop waits for attempts, then for the batchWriter, then for the others.
package delivery
