package delivery

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// outage is a number of failing endpoints, and events that are sent to all of them.
type outage struct {
	name      string
	endpoints int
	hanging   int // every n-th endpoint accepts connections and hangs; the others refuse connections; 0 for none
	events    int
	size      int // of a body in bytes
}

// ports is the number of addresses that the endpoints share, since each has its own
// connections.
const ports = 100

// smallOutage, largeOutage and hangingOutage measure the memory used for a backlog
// before and after a restart; recovery measures its delivery.
func smallOutage(s *suite, b *testing.B) {
	s.measureOutage(b, outage{"400 dead endpoints, 200 events of 32 KiB", 400, 10, 200, 32 << 10})
}

func largeOutage(s *suite, b *testing.B) {
	s.measureOutage(b, outage{"2,000 dead endpoints, 500 events of 32 KiB", 2000, 10, 500, 32 << 10})
}

func hangingOutage(s *suite, b *testing.B) {
	s.measureOutage(b, outage{"2,000 hanging endpoints, 500 events of 32 KiB", 2000, 1, 500, 32 << 10})
}

func (s *suite) measureOutage(b *testing.B, o outage) {
	if !s.table.usageAvailable(b) {
		return
	}
	r, urls := listen(b, 1)
	r.recordMessages = true
	h := startDaemon(b, "--http-max-body", "8MiB")
	down := o.subscribeDead(b, h)
	defer down.close()
	o.publish(b, h)
	before := s.single(o.name+": memory before the restart", "before-MB", "MB", h.watchUsage(b).rss)
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.addHealthy(b, urls[0], o)
	r.reset()
	began := time.Now()
	h.launch(b)
	r.await(b, 1)
	first := s.single(o.name+": restart to the first delivery to a healthy endpoint", "first-s", "s", time.Since(began).Seconds())
	first.digits = 2
	r.await(b, o.events)
	all := s.single(o.name+": restart to the last delivery to it", "all-s", "s", time.Since(began).Seconds())
	all.digits = 2
	w := h.watchUsage(b)
	time.Sleep(time.Until(began.Add(30 * time.Second)))
	after := s.single(o.name+": peak memory after the restart", "after-MB", "MB", w.stopAndPeak())
	s.table.addSamples(b, before, limits{limit: 200, goal: 120})
	s.table.addSamples(b, after, limits{limit: 200, goal: 120})
	s.table.addSamples(b, first, limits{limit: 3, goal: 1})
	s.table.addSamples(b, all, limits{limit: 10, goal: 5})
	s.table.addSamples(b, s.single(o.name+": longest WAL", "wal-MB", "MB", w.wal), limits{limit: 64, goal: 32})
	b.ReportMetric(0, "ns/op")
}

// recovery delivers a backlog to endpoints that have recovered.
func recovery(s *suite, b *testing.B) {
	if !s.table.usageAvailable(b) {
		return
	}
	o := outage{"500 endpoints return, 500 events of 32 KiB", 500, 0, 500, 32 << 10}
	h := startDaemon(b, "--http-max-body", "8MiB")
	down := o.subscribeDead(b, h)
	o.publish(b, h)
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	down.close()
	if err := h.reset(b); err != nil {
		b.Fatal(err)
	}
	var r *receiver
	for _, address := range down.addresses {
		r = listenAt(b, r, address)
	}
	began := time.Now()
	h.launch(b)
	w := h.watchUsage(b)
	n := o.endpoints * o.events
	for last := -1; ; {
		r.mu.Lock()
		received := r.received
		r.mu.Unlock()
		if received >= n {
			break
		}
		if time.Since(began) > 20*time.Minute || received == last {
			b.Fatalf("%d of %d messages were delivered", received, n)
		}
		last = received
		time.Sleep(20 * time.Second)
	}
	r.mu.Lock()
	took := r.last.Sub(began)
	r.mu.Unlock()
	h.awaitNothingOpen(b)
	memory := w.stopAndPeak()
	s.table.addSamples(b, s.single(o.name+": peak memory", "peak-MB", "MB", memory), limits{limit: 300, goal: 200})
	s.table.addSamples(b, s.single(o.name+": longest WAL", "wal-MB", "MB", w.wal), limits{limit: 64, goal: 32})
	s.table.addSamples(b, s.single(o.name+": deliveries a second", "deliveries/s", "/s", float64(n)/took.Seconds()), limits{
		limit:        2000,
		goal:         5000,
		moreIsBetter: true,
	})
	b.ReportMetric(0, "ns/op")
}

// single returns a value that was measured once.
func (s *suite) single(title, metric, unit string, value float64) samples {
	return samples{title: title, metric: metric, unit: unit, values: []float64{value}}
}

// deadEndpoints are the addresses of failing endpoints.
type deadEndpoints struct {
	addresses []string
	hanging   net.Listener
}

func (d *deadEndpoints) close() { d.hanging.Close() }

// subscribeDead creates subscriptions with failing endpoints.
func (o *outage) subscribeDead(b *testing.B, h *benchDaemon) *deadEndpoints {
	b.Helper()
	d := &deadEndpoints{}
	var err error
	if d.hanging, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		b.Fatal(err)
	}
	go func() { // connections stay open until the process exits
		for {
			if _, err := d.hanging.Accept(); err != nil {
				return
			}
		}
	}()
	for range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		d.addresses = append(d.addresses, l.Addr().String())
		defer l.Close()
	}
	h.subscribe(b, event(0), "http://"+d.addresses[0]+"/0")
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	conn := h.openTables(b, sqlite.Options{})
	defer conn.Close()
	script := []string{"BEGIN IMMEDIATE"}
	for n := 1; n < o.endpoints; n++ {
		address := d.addresses[n%ports]
		if o.hanging > 0 && n%o.hanging == 0 {
			address = d.hanging.Addr().String()
		}
		script = append(script, fmt.Sprintf(`INSERT INTO SY_WebhookSubscription (ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT 1000000 + %d, printf('00000000-0000-4000-8000-%%012x', %d), SubscriberID, EventName, 'http://%s/%d', ItemNo + %d, 1, 0, Secret, MadeByAdmin, LastSavedDateTime, RowHash FROM SY_WebhookSubscription ORDER BY ID LIMIT 1`, n, n, address, n, n))
	}
	script = append(script, `UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'SubscriptionVersion'`, `UPDATE WH_Number SET Next = 2000000 WHERE Name = 'ID'`, "COMMIT")
	if err := conn.Exec(strings.Join(script, ";\n")); err != nil {
		b.Fatal(err)
	}
	h.launch(b)
	return d
}

// publish publishes the events with eight publishers.
func (o *outage) publish(b *testing.B, h *benchDaemon) {
	b.Helper()
	body := strings.Repeat("x", o.size)
	t := h.publishTarget(event(0))
	var next atomic.Int64
	err := runEach(publishers, []target{t}, func(p *publisher, t *target, worker int) error {
		for worker < 8 {
			i := int(next.Add(1))
			if i > o.events {
				break
			}
			if err := p.publishRaw(t, fmt.Sprintf(`{"EventName":"%s","Body":"%0*d%0*d%s"}`, event(0), timeDigits, time.Now().UnixNano(), numberDigits, i, body)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	if n := h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage"); n != o.endpoints*o.events {
		b.Fatalf("%d messages of %d", n, o.endpoints*o.events)
	}
}

// publishRaw publishes a complete request body.
func (p *publisher) publishRaw(t *target, body string) error {
	p.text = fmt.Appendf(p.text[:0], "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		t.path, t.key, len(body), body)
	if _, err := p.Write(p.text); err != nil {
		return err
	}
	return p.answer()
}

// addHealthy adds a working endpoint, with a message for each event, to the store of a
// stopped daemon.
func (h *benchDaemon) addHealthy(b *testing.B, url string, o outage) {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{})
	defer conn.Close()
	err := conn.Exec(fmt.Sprintf(`BEGIN IMMEDIATE;
INSERT INTO SY_WebhookSubscription (ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT 1900000, '00000000-0000-4000-8000-ffffffffffff', SubscriberID, '%[2]s', '%[1]s', 1900000, 1, 0, Secret, MadeByAdmin, LastSavedDateTime, RowHash FROM SY_WebhookSubscription ORDER BY ID LIMIT 1;
UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'SubscriptionVersion';
INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT 1000000000 + e.EventID, printf('00000000-0000-4000-9000-%%012x', e.EventID), e.EventID, 1, s.ID, s.URL, 0, 0, e.AddedDateTime, e.AddedDateTime, e.AddedDateTime, s.MadeByAdmin
FROM WH_Event e, SY_WebhookSubscription s WHERE s.ID = 1900000;
UPDATE WH_Number SET Next = 2000000000 WHERE Name = 'ID';
COMMIT`, url, event(1)))
	if err != nil {
		b.Fatal(err)
	}
}

// reset makes every open message due now.
func (h *benchDaemon) reset(b *testing.B) error {
	conn := h.openTables(b, sqlite.Options{})
	defer conn.Close()
	return errors.Join(conn.Exec(`UPDATE SY_WebhookMessage SET NextAttemptDateTime = AddedDateTime WHERE NextAttemptDateTime IS NOT NULL`),
		conn.Exec("PRAGMA wal_checkpoint(TRUNCATE)"))
}

// listenAt receives deliveries at an address.
func listenAt(b *testing.B, r *receiver, address string) *receiver {
	b.Helper()
	if r == nil {
		r, _ = listen(b, 0)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	r.listeners = append(r.listeners, l)
	go r.serve(l)
	return r
}

// usageWatcher samples a daemon's memory and the size of its WAL.
type usageWatcher struct {
	rss, wal float64 // maximum, in MB
	stop     chan struct{}
	done     chan struct{}
}

// watchUsage starts a usageWatcher.
func (h *benchDaemon) watchUsage(b *testing.B) *usageWatcher {
	b.Helper()
	_, peak, err := benchtest.Memory(h.PID())
	if err != nil {
		b.Fatal(err)
	}
	w := &usageWatcher{rss: peak, stop: make(chan struct{}), done: make(chan struct{})}
	pid, wal := h.PID(), filepath.Join(h.dir, "whd.db-wal")
	b.Cleanup(func() { w.stopAndPeak() })
	go func() {
		defer close(w.done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
			if _, peak, err := benchtest.Memory(pid); err == nil {
				w.rss = max(w.rss, peak)
			}
			if file, err := os.Stat(wal); err == nil {
				w.wal = max(w.wal, float64(file.Size())/(1<<20))
			}
		}
	}()
	return w
}

// stopAndPeak stops sampling and returns the peak memory, in MB.
func (w *usageWatcher) stopAndPeak() float64 {
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	<-w.done
	return w.rss
}
