// Package crashtest kills a daemon again and again while it delivers, and looks
// afterwards whether the promises of webhooks hold: no event is lost that was
// accepted, none comes twice unless a daemon died in between, and no message is
// left that nobody works on. On a server it does so with one of two daemons, kills
// it or has it stand still for longer than its lease, and looks whether both ever
// worked on the same message at once, and what wrong clocks do. It holds tests
// only: `make crash` runs them long.
package crashtest
