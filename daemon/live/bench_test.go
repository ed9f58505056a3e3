package live

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// BenchmarkPublish publishes batches of 100 changes, as the delivery engine does under
// load. It measures the time for one change: of the publisher without readers, and in
// total for each reader.
func BenchmarkPublish(b *testing.B) {
	const size = 100
	for _, readers := range []int{0, 1, 10, MaxReaders} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			h := newHub(b, Config{})
			ends := make(chan struct{}, 1)
			var last atomic.Uint64 // number of the last change published
			last.Store(1)          // prevents a match with the preamble
			for range readers {
				r, err := h.Open(Messages, "")
				if err != nil {
					b.Fatal(err)
				}
				go r.Run(b.Context(), func(context.Context, []byte) error {
					if r.cursor == last.Load() {
						ends <- struct{}{}
					}
					return nil
				}, never)
			}

			all := changes(1, size)
			b.ReportAllocs()
			published := uint64(0)
			for b.Loop() {
				published += size
				last.Store(published)
				h.Publish(all)
				for range readers { // wait for each reader
					<-ends
				}
			}

			each := published * uint64(max(readers, 1))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(each), "ns/change/reader")
			h.Close()
		})
	}
}

// BenchmarkEncode measures encoding a change, which happens once regardless of the
// number of readers.
func BenchmarkEncode(b *testing.B) {
	c := changes(1, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		appendEvent(nil, "k3v9x2m7qa-1000", wire.EventMessage, encode(&c))
	}
}
