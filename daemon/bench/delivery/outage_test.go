package delivery

import (
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

// smallOutage measures the memory used for a backlog before and after a restart, like largeOutage
// and hangingOutage.
func smallOutage(s *suite, b *testing.B) {
	s.measureOutage(b, outage{
		name:      "400 dead endpoints, 200 events of 32 KiB",
		endpoints: 400,
		hanging:   10,
		events:    200,
		size:      32 << 10,
	})
}

func largeOutage(s *suite, b *testing.B) {
	s.measureOutage(b, outage{
		name:      "2,000 dead endpoints, 500 events of 32 KiB",
		endpoints: 2000,
		hanging:   10,
		events:    500,
		size:      32 << 10,
	})
}

func hangingOutage(s *suite, b *testing.B) {
	s.measureOutage(b, outage{
		name:      "2,000 hanging endpoints, 500 events of 32 KiB",
		endpoints: 2000,
		hanging:   1,
		events:    500,
		size:      32 << 10,
	})
}

// measureOutage publishes to failing endpoints, restarts the daemon with a healthy endpoint besides,
// and measures until its messages are delivered.
func (s *suite) measureOutage(b *testing.B, o outage) {
	if !s.table.UsageAvailable(b) {
		return
	}
	r, urls := listen(b, 1)
	r.recordMessages = true
	h := startDaemon(b, "--http-max-body", "8MiB")
	down := o.subscribeDead(b, h)
	defer down.close()
	o.publish(b, h)
	before := h.watchUsage(b).rss
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.addHealthy(b, urls[0])
	r.reset()

	start := time.Now()
	h.launch(b)
	r.await(b, 1)
	first := time.Since(start).Seconds()
	r.await(b, o.events)
	last := time.Since(start).Seconds()
	w := h.watchUsage(b)
	time.Sleep(time.Until(start.Add(30 * time.Second)))
	after := w.stopAndPeak()

	memory := limits{limit: 200, goal: 120}
	s.table.addSamples(b, single(o.name+": memory before the restart", "before-MB", "MB", before), memory)
	s.table.addSamples(b, single(o.name+": peak memory after the restart", "after-MB", "MB", after), memory)
	firstDelivery := single(o.name+": restart to the first delivery to a healthy endpoint", "first-s", "s", first)
	firstDelivery.digits = 2
	s.table.addSamples(b, firstDelivery, limits{limit: 3, goal: 1})
	lastDelivery := single(o.name+": restart to the last delivery to it", "all-s", "s", last)
	lastDelivery.digits = 2
	s.table.addSamples(b, lastDelivery, limits{limit: 10, goal: 5})
	s.table.addSamples(b, single(o.name+": longest WAL", "wal-MB", "MB", w.wal), limits{limit: 64, goal: 32})
	b.ReportMetric(0, "ns/op")
}

// recovery delivers a backlog to endpoints that have recovered.
func recovery(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	o := outage{
		name:      "500 endpoints return, 500 events of 32 KiB",
		endpoints: 500,
		events:    500,
		size:      32 << 10,
	}
	h := startDaemon(b, "--http-max-body", "8MiB")
	down := o.subscribeDead(b, h)
	o.publish(b, h)
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	down.close()
	h.makeAllDue(b)
	r, _ := listen(b, 0)
	for _, address := range down.addresses {
		r.ListenAt(b, address)
	}

	start := time.Now()
	h.launch(b)
	w := h.watchUsage(b)
	messages := o.endpoints * o.events
	took := r.awaitBacklog(b, messages).Sub(start)
	h.awaitNothingOpen(b)
	memory := w.stopAndPeak()
	rate := float64(messages) / took.Seconds()

	s.table.addSamples(b, single(o.name+": peak memory", "peak-MB", "MB", memory), limits{limit: 300, goal: 200})
	s.table.addSamples(b, single(o.name+": longest WAL", "wal-MB", "MB", w.wal), limits{limit: 64, goal: 32})
	s.table.addSamples(b, single(o.name+": deliveries a second", "deliveries/s", "/s", rate), limits{
		limit:        2000,
		goal:         5000,
		moreIsBetter: true,
	})
	b.ReportMetric(0, "ns/op")
}

// awaitBacklog waits until n messages have arrived, as long as there is progress every 20 seconds,
// and returns the time of the last one.
func (r *receiver) awaitBacklog(b *testing.B, n int) time.Time {
	b.Helper()
	const interval, timeout = 20 * time.Second, 20 * time.Minute
	end := time.Now().Add(timeout)
	for previous := -1; ; time.Sleep(interval) {
		r.mu.Lock()
		received, last := r.received, r.last
		r.mu.Unlock()
		if received >= n {
			return last
		}
		if received == previous || time.Now().After(end) {
			b.Fatalf("%d messages were delivered, want %d", received, n)
		}
		previous = received
	}
}

// single returns a value that was measured once.
func single(title, metric, unit string, value float64) samples {
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
	d := newDeadEndpoints(b)
	h.subscribe(b, event(0), "http://"+d.addresses[0]+"/0")
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	script := []string{"BEGIN IMMEDIATE"}
	for n := 1; n < o.endpoints; n++ {
		address := d.addresses[n%ports]
		if o.hanging > 0 && n%o.hanging == 0 {
			address = d.hanging.Addr().String()
		}
		script = append(script, fmt.Sprintf(copySubscription, n, address))
	}
	script = append(script,
		`UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'SubscriptionVersion'`,
		`UPDATE WH_Number SET Next = 2000000 WHERE Name = 'ID'`,
		"COMMIT")
	h.execTables(b, strings.Join(script, ";\n"))
	h.launch(b)
	return d
}

// copySubscription copies the first subscription, with a number and another address.
const copySubscription = `INSERT INTO SY_WebhookSubscription
	(ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT 1000000 + %[1]d, printf('00000000-0000-4000-8000-%%012x', %[1]d), SubscriberID, EventName,
	'http://%[2]s/%[1]d', ItemNo + %[1]d, 1, 0, Secret, MadeByAdmin, LastSavedDateTime, RowHash
FROM SY_WebhookSubscription ORDER BY ID LIMIT 1`

// newDeadEndpoints returns addresses that refuse connections, and one that accepts them and hangs.
func newDeadEndpoints(b *testing.B) *deadEndpoints {
	b.Helper()
	hanging, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { // connections stay open until the process exits
		for {
			_, err := hanging.Accept()
			if err != nil {
				return
			}
		}
	}()
	d := &deadEndpoints{hanging: hanging}
	for range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close() // all at the end, so that their ports differ
		d.addresses = append(d.addresses, l.Addr().String())
	}
	return d
}

// execTables executes a script on the tables of a stopped daemon.
func (h *benchDaemon) execTables(b *testing.B, script string) {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{})
	defer conn.Close()
	if err := conn.Exec(script); err != nil {
		b.Fatal(err)
	}
}

// publish publishes the events with eight publishers.
func (o *outage) publish(b *testing.B, h *benchDaemon) {
	b.Helper()
	body := strings.Repeat("x", o.size)
	t := h.publishTarget(event(0))
	var next atomic.Int64
	err := runEach(publishers, []target{t}, func(p *publisher, t *target, worker int) error {
		if worker >= 8 {
			return nil
		}
		for i := next.Add(1); i <= int64(o.events); i = next.Add(1) {
			request := fmt.Sprintf(`{"EventName":"%s","Body":"%0*d%0*d%s"}`,
				event(0), timeDigits, time.Now().UnixNano(), numberDigits, i, body)
			err := p.publishRaw(t, request)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	if n := h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage"); n != o.endpoints*o.events {
		b.Fatalf("%d messages are stored, want %d", n, o.endpoints*o.events)
	}
}

// publishRaw publishes a complete request body.
func (p *publisher) publishRaw(t *target, body string) error {
	const format = "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n" +
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
	p.text = fmt.Appendf(p.text[:0], format, t.path, t.key, len(body), body)
	_, err := p.Write(p.text)
	if err != nil {
		return err
	}
	return p.answer()
}

// addHealthy adds a working endpoint, with a message for each event, to the store of a
// stopped daemon.
func (h *benchDaemon) addHealthy(b *testing.B, url string) {
	b.Helper()
	h.execTables(b, fmt.Sprintf(`BEGIN IMMEDIATE;
INSERT INTO SY_WebhookSubscription
	(ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT 1900000, '00000000-0000-4000-8000-ffffffffffff', SubscriberID, '%[2]s', '%[1]s', 1900000, 1, 0, Secret, MadeByAdmin,
	LastSavedDateTime, RowHash
FROM SY_WebhookSubscription ORDER BY ID LIMIT 1;
UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'SubscriptionVersion';
INSERT INTO SY_WebhookMessage
	(ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT 1000000000 + e.EventID, printf('00000000-0000-4000-9000-%%012x', e.EventID), e.EventID, 1, s.ID, s.URL, 0, 0,
	e.AddedDateTime, e.AddedDateTime, e.AddedDateTime, s.MadeByAdmin
FROM WH_Event e, SY_WebhookSubscription s WHERE s.ID = 1900000;
UPDATE WH_Number SET Next = 2000000000 WHERE Name = 'ID';
COMMIT`, url, event(1)))
}

// makeAllDue makes every open message due now.
func (h *benchDaemon) makeAllDue(b *testing.B) {
	b.Helper()
	h.execTables(b, `UPDATE SY_WebhookMessage SET NextAttemptDateTime = AddedDateTime WHERE NextAttemptDateTime IS NOT NULL`)
	h.execTables(b, "PRAGMA wal_checkpoint(TRUNCATE)")
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
	b.Cleanup(func() { w.stopAndPeak() })
	go w.run(h.PID(), filepath.Join(h.dir, "whd.db-wal"))
	return w
}

// run samples until the watcher is stopped.
func (w *usageWatcher) run(pid int, wal string) {
	defer close(w.done)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		_, peak, err := benchtest.Memory(pid)
		if err == nil {
			w.rss = max(w.rss, peak)
		}
		file, err := os.Stat(wal)
		if err == nil {
			w.wal = max(w.wal, float64(file.Size())/(1<<20))
		}
	}
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
