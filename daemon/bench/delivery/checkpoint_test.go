package delivery

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// syncVariable is the environment variable that makes writing a changed file of the
// daemon to its disk take longer. Its value is a duration.
const syncVariable = "DELIVERYBENCH_FSYNC"

// latencyDuringCheckpoints measures the latency of events at 300/s on a slow disk. Their
// bodies make the WAL grow fast enough for several checkpoints.
func latencyDuringCheckpoints(s *suite, b *testing.B) {
	const rate, seconds, sync = 300, 10, 100
	b.Setenv(syncVariable, "100ms")
	r, urls := listen(b, 1)
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	to := h.publishTarget(event(0))
	to.padding = strings.Repeat("x", 16<<10)
	p50 := samples{title: "publish to received at 300/s, fsync of 100 ms, median", metric: "p50-ms", unit: "ms"}
	p99 := samples{title: "the same with checkpoints, p99", metric: "p99-ms", unit: "ms"}
	most := samples{title: "the same, maximum", metric: "max-ms", unit: "ms"}
	rounds(b, func(int) {
		r.reset()
		if err := publishPaced(rate*seconds, rate, to); err != nil {
			b.Fatal(err)
		}
		r.await(b, rate*seconds)
		r.mu.Lock()
		defer r.mu.Unlock()
		p50.values = append(p50.values, percentile(r.latencies, 50))
		p99.values = append(p99.values, percentile(r.latencies, 99))
		most.values = append(most.values, percentile(r.latencies, 100))
	})
	// An event waits for the commit that is running and for its own. In between, there may be
	// the end of a checkpoint, after which SQLite syncs the first page of the WAL.
	s.table.addSamples(b, p50, limits{limit: 2.2 * sync, goal: 1.6 * sync})
	s.table.addSamples(b, p99, limits{limit: 4.5 * sync, goal: 3.5 * sync})
	s.table.addSamples(b, most, limits{limit: 4.5 * sync, goal: 3.5 * sync})
}

// slowDisk wraps SQLite's VFS: an fsync takes longer if the file was written since the
// last one, like that of a disk.
type slowDisk struct {
	delay time.Duration
	open  func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	write func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	sync  func(tls *libc.TLS, file uintptr, flags int32) int32

	vfs  *sqlite3.Tsqlite3_vfs // the wrapper
	base uintptr               // *sqlite3_vfs, wrapped

	mu      sync.Mutex
	methods map[uintptr]*sqlite3.Tsqlite3_io_methods // wrappers of the kinds of files
	names   map[uintptr]string                       // of open files
	changed map[string]bool                          // files written since their last fsync
}

var disk slowDisk

// slowDownDisk makes the disk slow if the environment requests it. It is called before
// SQLite is used.
func slowDownDisk() {
	delay, err := time.ParseDuration(os.Getenv(syncVariable))
	if err != nil {
		return
	}
	tls := libc.NewTLS()
	base := sqlite3.Xsqlite3_vfs_find(tls, 0)
	vfs := *at[sqlite3.Tsqlite3_vfs](base)
	disk = slowDisk{delay: delay, vfs: &vfs, base: base, methods: make(map[uintptr]*sqlite3.Tsqlite3_io_methods), names: make(map[uintptr]string), changed: make(map[string]bool),
		open: function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](vfs.FxOpen)}
	vfs.FxOpen = functionPointer(openSlowFile)
	sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(&vfs)), 1)
}

func openSlowFile(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := disk.open(tls, disk.base, name, file, flags, out)
	methods := at[uintptr](file)
	if rc != sqlite3.SQLITE_OK || *methods == 0 {
		return rc
	}
	disk.mu.Lock()
	defer disk.mu.Unlock()
	slow := disk.methods[*methods]
	if slow == nil {
		m := *at[sqlite3.Tsqlite3_io_methods](*methods)
		disk.write = function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)
		disk.sync = function[func(*libc.TLS, uintptr, int32) int32](m.FxSync)
		m.FxWrite, m.FxSync = functionPointer(writeSlowFile), functionPointer(syncSlowFile)
		slow, disk.methods[*methods] = &m, &m
	}
	*methods = uintptr(unsafe.Pointer(slow))
	if name != 0 {
		disk.names[file] = libc.GoString(name)
	}
	return rc
}

func writeSlowFile(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	disk.mu.Lock()
	disk.changed[disk.names[file]] = true
	disk.mu.Unlock()
	return disk.write(tls, file, data, n, at)
}

func syncSlowFile(tls *libc.TLS, file uintptr, flags int32) int32 {
	disk.mu.Lock()
	name := disk.names[file]
	changed := disk.changed[name]
	disk.changed[name] = false
	disk.mu.Unlock()
	if changed {
		time.Sleep(disk.delay)
	}
	return disk.sync(tls, file, flags)
}

// at returns the value at an address in C's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function returns the Go function of a function pointer of translated C, which is a
// func value.
func function[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&pointer)) }

// functionPointer reverses function, for a function at package level.
func functionPointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }
