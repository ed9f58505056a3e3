// Package webhook delivers events. An event that was raised becomes one durable
// message for each matching subscription, and each message is sent until it
// succeeds, runs out of attempts, or is deleted.
//
//	raise ──> 0 Not sent ──attempt──> 1 Successful
//	              │                        ^
//	              └──attempt fails──> 2 Retry Pending ──attempt succeeds──┘
//	                                      │  ^ attempt fails, attempts left
//	                                      v  └───┘
//	                                  3 Failed (no attempt left, or a permanent failure)
//
// The way of an event: publish.go matches it with the subscriptions and hands
// it to ledger.go, which writes events, messages and outcomes in batches, each
// one transaction. What is committed goes into the lane of its subscription
// (lane.go). dispatch.go gives the lanes turns under a limit for all; sender.go
// makes one attempt; decide.go says what becomes of the message, and the ledger
// writes that down.
//
// The store is the only truth. Memory holds a window of each lane, which
// feed.go fills from the store. One budget bounds all of them (budget.go): the
// body of an event counts once, and an endpoint in trouble keeps nothing in
// memory but the attempt that is under way.
//
// Messages belong to a partition, and a daemon leases partitions (lease.go).
// Taking over the work of a daemon that died is leasing its partition: one row,
// however many messages. Each lease has a fencing number, and what is written
// under an old one changes nothing.
//
// What was written down is counted by the minute (stats.go, series.go); what is
// open in the store is counted when somebody asks (backlog.go).
package webhook
