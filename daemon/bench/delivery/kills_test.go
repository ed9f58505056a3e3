package delivery

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// twentyKills kills the daemon repeatedly while events are published at a fixed rate.
func twentyKills(s *suite, b *testing.B) {
	const (
		kills       = 20
		pace        = 300
		maxLifetime = 3 * time.Second
	)
	r, urls := listen(b, 1)
	r.recordMessages = true
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	var mu sync.Mutex
	accepted := make(map[string]bool)
	next, address := 0, h.publishTarget(event(0))
	stop := make(chan struct{})
	var tasks sync.WaitGroup
	for range publishers {
		tasks.Go(func() {
			tick := time.NewTicker(publishers * time.Second / pace)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				mu.Lock()
				next++
				n, t := next, address
				mu.Unlock()
				if publishOnce(&t, n) == nil {
					mu.Lock()
					accepted[fmt.Sprintf("%0*d", numberDigits, n)] = true
					mu.Unlock()
				}
			}
		})
	}
	for range kills {
		time.Sleep(rand.N(maxLifetime))
		if err := h.Kill(); err != nil {
			b.Fatal(err)
		}
		h.launch(b)
		mu.Lock()
		address = h.publishTarget(event(0))
		mu.Unlock()
	}
	close(stop)
	tasks.Wait()
	h.awaitNothingOpen(b)
	s.table.addKills(b, r, accepted)
	b.ReportMetric(0, "ns/op")
}

// publishOnce publishes an event over a new connection, since an earlier one may be
// dead.
func publishOnce(t *target, n int) error {
	p, err := dial(t.address)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.publish(t, n)
}

func (t *table) addKills(b *testing.B, r *receiver, accepted map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lost, twice := 0, 0
	for event := range accepted {
		if !r.bodies[event] {
			lost++
		}
	}
	for _, n := range r.accepted {
		twice += n - 1
	}
	share := 100 * float64(twice) / float64(len(accepted))
	if lost > 0 {
		b.Errorf("%d events are lost", lost)
	}
	b.ReportMetric(share, "twice-percent")
	must, aim := limits{limit: 1, goal: 0.1}, "%"
	t.Add(b, "20 kills at 300/s", fmt.Sprintf("%d of %d lost, %.2f %% twice", lost, len(accepted), share), "", "",
		"0 lost, "+must.verdict(share, must.limit, aim), "0 lost, "+must.verdict(share, must.goal, aim))
}
