package delivery

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// twentyKills kills the daemon again and again while events come at a pace.
func twentyKills(s *stage, b *testing.B) {
	const kills, pace, longest = 20, 300, 3 * time.Second
	r, urls := listen(b, 1)
	r.keeps = true
	h := build(b)
	h.subscribe(b, event(0), urls[0])
	var mu sync.Mutex
	accepted := make(map[string]bool)
	next, address := 0, h.target(event(0))
	stop := make(chan struct{})
	var crowd sync.WaitGroup
	for range publishers {
		crowd.Go(func() {
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
				if raise(&t, n) == nil {
					mu.Lock()
					accepted[fmt.Sprintf("%0*d", markDigits, n)] = true
					mu.Unlock()
				}
			}
		})
	}
	for range kills {
		time.Sleep(rand.N(longest))
		if err := h.Kill(); err != nil {
			b.Fatal(err)
		}
		h.launch(b)
		mu.Lock()
		address = h.target(event(0))
		mu.Unlock()
	}
	close(stop)
	crowd.Wait()
	h.settled(b)
	s.table.killed(b, r, accepted)
	b.ReportMetric(0, "ns/op")
}

// raise publishes an event over a connection of its own, since the last one may
// be dead.
func raise(t *target, n int) error {
	p, err := dial(t.address)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.publish(t, n)
}

func (t *table) killed(b *testing.B, r *receiver, accepted map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lost, twice := 0, 0
	for event := range accepted {
		if !r.bodies[event] {
			lost++
		}
	}
	for _, n := range r.taken {
		twice += n - 1
	}
	share := 100 * float64(twice) / float64(len(accepted))
	if lost > 0 {
		b.Errorf("%d events are lost", lost)
	}
	b.ReportMetric(share, "twice-percent")
	must, aim := bounds{must: 1, aim: 0.1}, "%"
	t.add(number(b), "20 kills at 300/s", fmt.Sprintf("%d of %d lost, %.2f %% twice", lost, len(accepted), share), "", "",
		"0 lost, "+must.say(share, must.must, aim), "0 lost, "+must.say(share, must.aim, aim))
}
