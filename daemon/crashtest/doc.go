// Package crashtest repeatedly kills a daemon while it delivers, and then checks the
// guarantees of webhooks: no accepted event is lost, no message is delivered twice unless
// a daemon died in between, and no message stays open. With a server store it does so
// with one of two daemons, kills it or suspends it for longer than its lease, and also
// checks that both never work on the same message concurrently, and the effect of wrong
// clocks. It contains tests only: `make crash` runs them for longer.
package crashtest
