// Package webhook has the nouns and rules of webhooks: events, messages and
// subscriptions, what a subscription may be, where messages may go, and what an
// attempt makes of a message.
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
