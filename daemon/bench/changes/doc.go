// Package changes measures the capture of changes. It contains benchmarks only: `make bench`
// prints their results, and `go -C daemon/bench test -bench Changes/C1$ ./changes` runs one
// of them.
//
// The daemon is the complete one, as released, in its own process with the embedded store.
// The records are in a file, too, which this process changes as the ERP's programs would.
// C4-server captures a table on the server that WHD_TEST_SQLSERVER_DSN names, and counts the
// statements in a proxy. Writers, publishers and receivers run in this process, which shares
// the processors with the daemon.
//
// The flags -rows, -events and -span set the sizes of the measurements. A benchmark fails if
// something is lost, never because it is slow. If the environment variable
// DAEMONTEST_PROFILES names a directory, the daemon writes CPU profiles there.
package changes
