package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestManyRequestsWaitForChanges checks that 400 requests of a reader that continue together
// do not hold all of their responses in memory, and that another reader gets its response.
func TestManyRequestsWaitForChanges(t *testing.T) {
	const (
		waiting = 400
		rows    = 599
		rowSize = 1000
		maxHeap = 100 << 20 // all responses have 240 MB
	)
	f := startChangesWith(t, 8)
	statuses := make(chan string, waiting)
	for range waiting {
		go func() { statuses <- f.waitForChanges(t) }()
		select {
		case <-f.feed.waits: // without a slot
		case status := <-statuses:
			t.Fatalf("a request that should wait: %s", status)
		}
	}
	// With Go's default of 100, garbage may be as large as everything else on the heap, which other tests
	// have used too.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	before := heapSize()
	peak, stop := watchHeap()
	f.feed.addLong(rows, rowSize)
	another := f.do("GET /Queries/CR_Classification/Changes?Since=e-0&Wait=60", "")
	if another.status != 200 || strings.Count(another.body, "ChangeID") != rows {
		t.Errorf("another reader: status %d, %d changes, want 200 and %d",
			another.status, strings.Count(another.body, "ChangeID"), rows)
	}

	counts := make(map[string]int)
	for range waiting {
		counts[<-statuses]++
	}

	stop()
	// On a busy machine some requests may get no turn in time.
	if counts["200"] == 0 || counts["200"]+counts["503"] < waiting {
		t.Errorf("statuses of the requests that waited: %v, want 200, or 503 for some", counts)
	}
	if grown := int64(*peak) - int64(before); grown > maxHeap {
		t.Errorf("the heap grew by %d MB, want at most %d", grown>>20, maxHeap>>20)
	}

	t.Logf("%v, heap %d MB, at most %d", counts, before>>20, *peak>>20)
}

// waitForChanges waits for changes as the reader, and returns the status of the complete response.
func (f *changesFixture) waitForChanges(t *testing.T) string {
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Error(err)
		return "no connection"
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /Queries/CR_Classification/Changes?Since=e-0&Wait=60 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", f.reader)
	if err != nil {
		t.Error(err)
		return "no request"
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return "no response"
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
		return "no body"
	}
	return fmt.Sprint(response.StatusCode)
}

// watchHeap measures the largest size of the heap until stop is called.
func watchHeap() (peak *uint64, stop func()) {
	peak = new(uint64)
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			*peak = max(*peak, heapSize())
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	return peak, func() {
		close(ended)
		watching.Wait()
	}
}

// heapSize returns the number of bytes of the objects on the heap.
func heapSize() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
