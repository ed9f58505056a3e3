// Package read measures the cost of reading records against a lower bound. It
// contains benchmarks only: `make bench` prints the results.
//
// "whd" is the whole daemon as released, in a separate process. The floor is a
// bare net/http server in another process: the same file, the same SQL, the
// simplest encoder, and no code that parses, validates or logs. Both are
// measured alternately by the same client, which shares their processors. The
// raw loop steps a statement in this process and discards its rows.
//
// If WHD_TEST_SQLSERVER_DSN names a server, memory and first bytes are also
// measured with the records there. The server runs on the same machine; its own
// memory is not counted.
//
// A benchmark fails if a response is wrong, never because it is slow. The
// daemon's CPU profiles are written to the directory in DAEMONTEST_PROFILES.
package read
