package live

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// BenchmarkPublish publishes batches of 100 changes, as the delivery does under
// load, to readers who take everything: the time that one change costs the
// publisher, and that it costs all in all for each reader.
func BenchmarkPublish(b *testing.B) {
	const size = 100
	for _, readers := range []int{0, 1, 10, MaxReaders} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			h := newHub(b, Config{})
			ends := make(chan struct{}, 1)
			var last atomic.Uint64 // that was published
			last.Store(1)          // which nobody takes a greeting for
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
				for range readers { // who follow at this pace
					<-ends
				}
			}
			each := published * uint64(max(readers, 1))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(each), "ns/change/reader")
			h.Close()
		})
	}
}

// BenchmarkEncode is what a change costs once, however many read it.
func BenchmarkEncode(b *testing.B) {
	c := changes(1, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		appendEvent(nil, "k3v9x2m7qa-1000", wire.EventMessage, encode(&c))
	}
}
