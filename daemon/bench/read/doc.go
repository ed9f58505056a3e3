// Package read measures how reading records fares against the least that
// it could cost. It holds benchmarks only: `make bench` prints their figures.
//
// Ours is the whole daemon, as it ships, in a process of its own. The floor is
// a bare net/http server in another process: the same file, the same SQL, the
// plainest encoder, and nothing that reads, checks or logs. Both are asked in
// turns by the same client, which shares their processors. The raw loop steps
// a statement in this process and throws its rows away.
//
// Where WHD_TEST_SQLSERVER_DSN names a server, memory and first bytes are also
// measured with the records there. It runs beside all the rest, and its own
// memory does not count.
//
// A benchmark fails when an answer is wrong, never because it was slow. With
// READBENCH_PROFILES naming a directory, the daemon's CPU profiles go there.
package read
