package delivery

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// syncLogVariable is the environment variable with the name of a file that lists these
// fsyncs.
const syncLogVariable = "DELIVERYBENCH_FSYNC_LOG"

// latencyDuringCheckpoints measures the latency of events at 300/s on a slow disk. Their
// bodies make the WAL grow fast enough for several checkpoints.
//
// An event waits for the commit that is running and for its own. At the end of a checkpoint
// the writer pauses, because SQLite reuses the WAL only if all of it is in the file, and
// there are two more fsyncs between the two: the file is synced before the header of the WAL
// is overwritten, which is synced before the first of the old pages is overwritten. None can
// be left out or run together with another one or with the next commit, without damage when
// the power fails. So a checkpoint costs two fsyncs, if the writer is never idle, as here.
func latencyDuringCheckpoints(s *suite, b *testing.B) {
	const (
		rate    = 300
		seconds = 10
		sync    = 100
	)
	log := filepath.Join(b.TempDir(), "syncs")
	b.Setenv(syncVariable, "100ms")
	b.Setenv(syncLogVariable, log)
	r, urls := listen(b, 1)
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	to := h.publishTarget(event(0))
	to.padding = strings.Repeat("x", 16<<10)
	to.publishers = rate // for up to a second
	p50 := samples{title: "publish to received at 300/s, fsync of 100 ms, median", metric: "p50-ms", unit: "ms"}
	p99 := samples{title: "the same with checkpoints, p99", metric: "p99-ms", unit: "ms", baselineName: "without"}
	most := samples{title: "the same, maximum", metric: "max-ms", unit: "ms", baselineName: "without"}
	waits := samples{title: "fsyncs that an event waits for, maximum", metric: "fsyncs", baselineName: "without"}
	ends := samples{title: "checkpoints in 10 s", metric: "checkpoints"}
	rounds(b, func(int) {
		r.reset()
		if err := publishPaced(rate*seconds, rate, to); err != nil {
			b.Fatal(err)
		}
		r.await(b, rate*seconds)
		r.mu.Lock()
		defer r.mu.Unlock()
		all := readSyncs(b, log).waits(r.arrived, r.latencies)
		p50.values = append(p50.values, percentile(r.latencies, 50))
		p99.add(percentile(r.latencies, 99), percentile(all.others, 99))
		most.add(percentile(r.latencies, 100), percentile(all.others, 100))
		waits.add(float64(all.max), float64(all.maxOthers))
		ends.values = append(ends.values, float64(all.checkpoints))
	})
	s.table.addSamples(b, p50, limits{limit: 2.2 * sync, goal: 1.6 * sync})
	s.table.addSamples(b, p99, limits{limit: 4.5 * sync, goal: 3.5 * sync})
	s.table.addSamples(b, most, limits{limit: 4.5 * sync, goal: 3.5 * sync})
	s.table.addSamples(b, waits, limits{limit: 4, goal: 3})
	s.table.addSamples(b, ends, limits{limit: 4, goal: 2})
}

// fsync is an fsync of a changed file of the store.
type fsync struct {
	ofWAL      bool
	began, end time.Time
}

// fsyncs are in the order of their ends.
type fsyncs []fsync

// readSyncs reads the fsyncs of the store from their log.
func readSyncs(b *testing.B, log string) (all fsyncs) {
	b.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var name string
		var began, end int64
		if _, err := fmt.Sscan(line, &name, &began, &end); err != nil {
			b.Fatal(err)
		}
		if strings.HasPrefix(name, "whd.db") {
			all = append(all, fsync{
				ofWAL: strings.HasSuffix(name, "-wal"),
				began: time.Unix(0, began),
				end:   time.Unix(0, end),
			})
		}
	}
	return all
}

// overlaps reports whether an fsync of the WAL runs at the same time.
func (all fsyncs) overlaps(s fsync) bool {
	return slices.ContainsFunc(all, func(o fsync) bool {
		return o.ofWAL && o.end.After(s.began) && o.began.Before(s.end)
	})
}

// count returns how many ended between two times.
func (all fsyncs) count(from, to time.Time) (n int) {
	for _, s := range all {
		if s.end.After(from) && s.end.Before(to) {
			n++
		}
	}
	return n
}

// waits are the fsyncs that events waited for.
type waits struct {
	checkpoints int
	max         int // fsyncs of an event
	// Others are the events that a checkpoint did not delay.
	maxOthers int
	others    []time.Duration // latencies
}

// waits compares fsyncs with the times when events arrived. Only at the end of a checkpoint
// the writer waits for an fsync of the file, so that none of the WAL runs.
func (all fsyncs) waits(arrived []time.Time, latencies []time.Duration) (w waits) {
	var serial, ends fsyncs
	for _, s := range all {
		if s.ofWAL {
			serial = append(serial, s)
		} else if !all.overlaps(s) {
			serial = append(serial, s)
			ends = append(ends, s)
		}
	}
	first := slices.MinFunc(arrived, time.Time.Compare)
	last := slices.MaxFunc(arrived, time.Time.Compare)
	w.checkpoints = ends.count(first, last)
	for i, end := range arrived {
		published := end.Add(-latencies[i])
		n := serial.count(published, end)
		w.max = max(w.max, n)
		if ends.count(published.Add(-time.Second), end) == 0 {
			w.others = append(w.others, latencies[i])
			w.maxOthers = max(w.maxOthers, n)
		}
	}
	return w
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
	writes  map[string]int                           // by file
	synced  map[string]int                           // how many of them are synced
	log     io.Writer
}

var disk slowDisk

// slowDownDisk makes the disk slow if the environment requests it. It is called before
// SQLite is used.
func slowDownDisk() {
	delay, err := time.ParseDuration(os.Getenv(syncVariable))
	if err != nil {
		return
	}
	log, err := os.OpenFile(os.Getenv(syncLogVariable), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	tls := libc.NewTLS()
	base := sqlite3.Xsqlite3_vfs_find(tls, 0)
	vfs := *at[sqlite3.Tsqlite3_vfs](base)
	disk = slowDisk{
		delay:   delay,
		vfs:     &vfs,
		base:    base,
		methods: make(map[uintptr]*sqlite3.Tsqlite3_io_methods),
		names:   make(map[uintptr]string),
		writes:  make(map[string]int),
		synced:  make(map[string]int),
		log:     log,
		open:    function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](vfs.FxOpen),
	}
	vfs.FxOpen = functionPointer(openSlowFile)
	sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(&vfs)), 1)
}

// openSlowFile is xOpen of the VFS.
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
		m.FxWrite = functionPointer(writeSlowFile)
		m.FxSync = functionPointer(syncSlowFile)
		slow = &m
		disk.methods[*methods] = slow
	}
	*methods = uintptr(unsafe.Pointer(slow))
	if name != 0 {
		disk.names[file] = libc.GoString(name)
	}
	return rc
}

// writeSlowFile is xWrite of a file.
func writeSlowFile(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	disk.mu.Lock()
	disk.writes[disk.names[file]]++
	disk.mu.Unlock()
	return disk.write(tls, file, data, n, at)
}

// syncSlowFile is xSync of a file.
func syncSlowFile(tls *libc.TLS, file uintptr, flags int32) int32 {
	disk.mu.Lock()
	name := disk.names[file]
	writes := disk.writes[name]
	synced := disk.synced[name]
	disk.mu.Unlock()
	if writes == synced {
		return disk.sync(tls, file, flags)
	}
	began := time.Now()
	time.Sleep(disk.delay)
	rc := disk.sync(tls, file, flags)
	disk.mu.Lock()
	defer disk.mu.Unlock()
	disk.synced[name] = max(disk.synced[name], writes)
	fmt.Fprintln(disk.log, filepath.Base(name), began.UnixNano(), time.Now().UnixNano())
	return rc
}

// at returns the value at an address in C's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function returns the Go function of a function pointer of translated C, which is a
// func value.
func function[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&pointer)) }

// functionPointer reverses function, for a function at package level.
func functionPointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }
