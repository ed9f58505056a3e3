// Package crash kills a daemon again and again while it delivers, and looks
// afterwards whether the promises of webhooks hold: no event is lost that was
// accepted, none comes twice unless a daemon died in between, and no message is
// left that nobody works on. It holds tests only: `make crash` runs them long.
package crash
