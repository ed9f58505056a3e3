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

	"github.com/bizhook/whd/daemon/sqlite"
)

// outage is a number of endpoints that are down, and events that go to all of
// them.
type outage struct {
	name      string
	endpoints int
	hanging   int // one in so many accepts connections and never answers; the others refuse them
	events    int
	size      int // of a body
}

// ports is how many addresses the endpoints share, since each keeps connections.
const ports = 100

// smallOutage and largeOutage print the memory that a backlog costs before and
// after a restart; recovery prints what its delivery costs.
func smallOutage(s *stage, b *testing.B) {
	s.outage(b, outage{"400 dead endpoints, 200 events of 32 KiB", 400, 10, 200, 32 << 10})
}

func largeOutage(s *stage, b *testing.B) {
	s.outage(b, outage{"2,000 dead endpoints, 500 events of 32 KiB", 2000, 10, 500, 32 << 10})
}

func hangingOutage(s *stage, b *testing.B) {
	s.outage(b, outage{"2,000 hanging endpoints, 500 events of 32 KiB", 2000, 1, 500, 32 << 10})
}

func (s *stage) outage(b *testing.B, o outage) {
	if !s.table.canMeasure(b) {
		return
	}
	r, urls := listen(b, 1)
	r.keeps = true
	h := build(b, "--http-max-body", "8MiB")
	down := o.strike(b, h)
	defer down.end()
	o.publish(b, h)
	before := s.one(o.name+": memory before the restart", "before-MB", "MB", h.watch(b).rss)
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.addHealthy(b, urls[0], o)
	r.reset()
	began := time.Now()
	h.launch(b)
	r.await(b, 1)
	first := s.one(o.name+": restart to the first delivery to a healthy endpoint", "first-s", "s", time.Since(began).Seconds())
	first.digits = 2
	r.await(b, o.events)
	all := s.one(o.name+": restart to the last delivery to it", "all-s", "s", time.Since(began).Seconds())
	all.digits = 2
	w := h.watch(b)
	time.Sleep(time.Until(began.Add(30 * time.Second)))
	after := s.one(o.name+": peak memory after the restart", "after-MB", "MB", w.end())
	s.table.note(b, before, bounds{must: 200, aim: 120})
	s.table.note(b, after, bounds{must: 200, aim: 120})
	s.table.note(b, first, bounds{must: 3, aim: 1})
	s.table.note(b, all, bounds{must: 10, aim: 5})
	s.table.note(b, s.one(o.name+": longest WAL", "wal-MB", "MB", w.wal), bounds{must: 64, aim: 32})
	b.ReportMetric(0, "ns/op")
}

// recovery delivers a backlog to endpoints that are back.
func recovery(s *stage, b *testing.B) {
	if !s.table.canMeasure(b) {
		return
	}
	o := outage{"500 endpoints return, 500 events of 32 KiB", 500, 0, 500, 32 << 10}
	h := build(b, "--http-max-body", "8MiB")
	down := o.strike(b, h)
	o.publish(b, h)
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	down.end()
	if err := h.reset(b); err != nil {
		b.Fatal(err)
	}
	var r *receiver
	for _, address := range down.addresses {
		r = reopen(b, r, address)
	}
	began := time.Now()
	h.launch(b)
	w := h.watch(b)
	n := o.endpoints * o.events
	for last := -1; ; {
		r.mu.Lock()
		came := r.came
		r.mu.Unlock()
		if came >= n {
			break
		}
		if time.Since(began) > 20*time.Minute || came == last {
			b.Fatalf("%d of %d deliveries came", came, n)
		}
		last = came
		time.Sleep(20 * time.Second)
	}
	r.mu.Lock()
	took := r.last.Sub(began)
	r.mu.Unlock()
	h.settled(b)
	memory := w.end()
	s.table.note(b, s.one(o.name+": peak memory", "peak-MB", "MB", memory), bounds{must: 300, aim: 200})
	s.table.note(b, s.one(o.name+": longest WAL", "wal-MB", "MB", w.wal), bounds{must: 64, aim: 32})
	s.table.note(b, s.one(o.name+": deliveries a second", "deliveries/s", "/s", float64(n)/took.Seconds()), bounds{must: 2000, aim: 5000, more: true})
	b.ReportMetric(0, "ns/op")
}

// one is a figure that was measured once.
func (s *stage) one(what, metric, unit string, value float64) samples {
	return samples{what: what, metric: metric, unit: unit, ours: []float64{value}}
}

// downtime is what dead endpoints need.
type downtime struct {
	addresses []string
	hung      net.Listener
}

func (d *downtime) end() { d.hung.Close() }

// strike subscribes dead endpoints.
func (o *outage) strike(b *testing.B, h *house) *downtime {
	b.Helper()
	d := &downtime{}
	var err error
	if d.hung, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		b.Fatal(err)
	}
	go func() { // connections stay open until the process ends
		for {
			if _, err := d.hung.Accept(); err != nil {
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
	conn := h.tables(b, sqlite.Options{})
	defer conn.Close()
	script := []string{"BEGIN IMMEDIATE"}
	for n := 1; n < o.endpoints; n++ {
		address := d.addresses[n%ports]
		if o.hanging > 0 && n%o.hanging == 0 {
			address = d.hung.Addr().String()
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

// publish publishes the events, by eight at once.
func (o *outage) publish(b *testing.B, h *house) {
	b.Helper()
	body := strings.Repeat("x", o.size)
	t := h.target(event(0))
	var next atomic.Int64
	err := each([]target{t}, func(p *publisher, t *target, who int) error {
		for who < 8 {
			i := int(next.Add(1))
			if i > o.events {
				break
			}
			if err := p.raw(t, fmt.Sprintf(`{"EventName":"%s","Body":"%0*d%0*d%s"}`, event(0), timeDigits, time.Now().UnixNano(), markDigits, i, body)); err != nil {
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

// raw publishes a body.
func (p *publisher) raw(t *target, body string) error {
	p.text = fmt.Appendf(p.text[:0], "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		t.path, t.key, len(body), body)
	if _, err := p.Write(p.text); err != nil {
		return err
	}
	return p.answer()
}

// addHealthy adds an endpoint that works, with a message of each event, to a
// store that no daemon has open.
func (h *house) addHealthy(b *testing.B, url string, o outage) {
	b.Helper()
	conn := h.tables(b, sqlite.Options{})
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

// reset makes every message due and fresh, as it would be if the daemon had been
// off, and not the endpoints.
func (h *house) reset(b *testing.B) error {
	conn := h.tables(b, sqlite.Options{})
	defer conn.Close()
	return errors.Join(conn.Exec(`UPDATE SY_WebhookMessage SET NextAttemptDateTime = AddedDateTime WHERE NextAttemptDateTime IS NOT NULL`),
		conn.Exec("PRAGMA wal_checkpoint(TRUNCATE)"))
}

// reopen takes deliveries at an address.
func reopen(b *testing.B, r *receiver, address string) *receiver {
	b.Helper()
	if r == nil {
		r, _ = listen(b, 0)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	r.all = append(r.all, l)
	go r.serve(l)
	return r
}

// watcher looks at a daemon's memory and at its WAL.
type watcher struct {
	rss, wal float64 // the most, in MB
	stop     chan struct{}
	done     chan struct{}
}

// watch begins at the present peak of the memory.
func (h *house) watch(b *testing.B) *watcher {
	b.Helper()
	peak, err := peakMemory(h.PID())
	if err != nil {
		b.Fatal(err)
	}
	w := &watcher{rss: peak, stop: make(chan struct{}), done: make(chan struct{})}
	pid, wal := h.PID(), filepath.Join(h.dir, "whd.db-wal")
	b.Cleanup(func() { w.end() })
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
			if peak, err := peakMemory(pid); err == nil {
				w.rss = max(w.rss, peak)
			}
			if file, err := os.Stat(wal); err == nil {
				w.wal = max(w.wal, float64(file.Size())/(1<<20))
			}
		}
	}()
	return w
}

// end gives the most memory, in MB.
func (w *watcher) end() float64 {
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	<-w.done
	return w.rss
}
