//go:build unix

package sqlstore_test

import (
	"encoding/binary"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/storage"
)

// BenchmarkUnchangedSweep finds a million entries with keys in the order of a sweep, in pages.
// The first sweep of a process is cold; a thousandth of the rows was added later, so that
// they have other numbers. It prints the CPU time, which other processes do not change.
func BenchmarkUnchangedSweep(b *testing.B) {
	const rows = 1_000_000
	s := reopening(b, storage.Config{Dir: b.TempDir()})()
	_, err := s.Changes.Begin(b.Context(), "K", 1)
	check(b, err)
	keys := make([][]byte, rows)
	var late []changes.Entry
	var page []changes.Entry
	put := func() {
		check(b, s.Changes.Put(b.Context(), "K", 1, 0, page))
		page = page[:0]
	}
	number := int64(0)
	for n := range keys {
		keys[n] = binary.BigEndian.AppendUint64([]byte("INV-"), uint64(n)*7919)
		e := changes.Entry{
			Key:    keys[n],
			Scheme: 1,
			Hash:   [16]byte{byte(n)},
			Fields: make([]byte, 80),
			Stamp:  make([]byte, 8),
		}
		if n%1000 == 77 {
			late = append(late, e)
			continue
		}
		number++
		e.Number = number
		page = append(page, e)
		if len(page) == changes.MaxRows {
			put()
		}
	}
	for _, e := range late {
		number++
		e.Number = number
		page = append(page, e)
	}
	put()

	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		for first := 0; first < rows; first += changes.MaxRows {
			found, err := s.Changes.Find(b.Context(), "K", keys[first:first+changes.MaxRows])
			check(b, err)
			for i, e := range found {
				if e == nil || e.Hash[0] != byte(first+i) {
					b.Fatalf("row %d has the entry %+v", first+i, e)
				}
			}
		}
	}
	b.ReportMetric((cpuTime(b)-began).Seconds()/float64(b.N), "cpu-s/op")
}

// cpuTime returns the CPU time that the process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
