// Package webhook defines events, messages and subscriptions, and their rules:
// which subscriptions are valid, which addresses messages may be sent to, and how
// an attempt changes the state of a message.
//
//	published ──> 0 Not sent ──attempt──> 1 Successful
//	                  │                        ^
//	                  └──attempt fails──> 2 Retry Pending ──attempt succeeds──┘
//	                                          │  ^ attempt fails, attempts left
//	                                          v  └───┘
//	                                      3 Failed (no attempt left, or a permanent failure)
//
// Package delivery sends messages through package sender, package admin changes
// subscribers and subscriptions, package stats counts.
package webhook
