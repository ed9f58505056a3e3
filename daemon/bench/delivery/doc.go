// Package delivery measures how events are delivered, against the least that
// it could cost. It holds benchmarks only: `make bench` prints their figures, and
// `go test -bench Deliver/D1$ ./daemon/bench/delivery` one of them.
//
// Ours is the whole daemon, as it ships, in a process of its own on the embedded
// store. The floor is a bare net/http server in another process: what is posted
// to it is committed together with whatever else came meanwhile, sent on, and
// what came of that is committed, and there is nothing else. Publishers and
// receivers are in this process, which shares the processors with both.
//
// A benchmark fails when something is lost, never because it was slow. With
// DAEMONTEST_PROFILES naming a directory, the daemon's CPU profiles go there.
package delivery
