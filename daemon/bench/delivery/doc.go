// Package delivery measures the delivery of events against a lower bound of its cost.
// It contains benchmarks only: `make bench` prints their results, and
// `go -C daemon/bench test -bench Deliver/D1$ ./delivery` runs one of them.
//
// The daemon is the complete one, as released, in its own process with the embedded
// store. The lower bound is the floor, a minimal net/http server in another process: it
// commits the events posted to it, together with all others received during the last
// commit, forwards them, and commits the results. Publishers and receivers run in this
// process, which shares the processors with both.
//
// A benchmark fails if something is lost, never because it is slow. If the environment
// variable DAEMONTEST_PROFILES names a directory, the daemon writes CPU profiles there.
package delivery
