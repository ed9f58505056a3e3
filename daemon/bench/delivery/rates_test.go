package delivery

import (
	"slices"
	"testing"
	"time"
)

// stage is what the figures share.
type stage struct {
	table     table
	saturated *saturation
}

// saturation is what a daemon does with one endpoint and as many events as it
// takes, beside the floor.
type saturation struct{ rate, p50, p99, cpu samples }

const atOnce = 5000 // events of a round

// saturate measures it when a figure needs it first.
func (s *stage) saturate(b *testing.B) *saturation {
	b.Helper()
	if s.saturated != nil {
		return s.saturated
	}
	r, urls := listen(b, 1)
	h, g := build(b), lay(b, urls[0])
	h.subscribe(b, event(0), urls[0])
	m := &saturation{
		rate: samples{what: "deliveries a second, one endpoint, 32 publishers", metric: "deliveries/s", unit: "/s"},
		p50:  samples{what: "publish to received at saturation, median", metric: "p50-ms", unit: "ms", digits: 1},
		p99:  samples{what: "publish to received at saturation, p99", metric: "p99-ms", unit: "ms", digits: 1},
		cpu:  samples{what: "CPU of a delivered event", metric: "cpu-ms", unit: "ms", digits: 3},
	}
	run(b, r, 500, 1, g.target) // until all is in its cache
	run(b, r, 500, 1, h.target(event(0)))
	rounds(b, func(n int) {
		var ours, base burst
		inTurns(n, func() { ours = measured(b, h.PID(), r, atOnce, 1, h.target(event(0))) },
			func() { base = measured(b, g.cmd.Process.Pid, r, atOnce, 1, g.target) })
		m.rate.add(ours.rate, base.rate)
		m.p50.add(ours.p50, base.p50)
		m.p99.add(ours.p99, base.p99)
		m.cpu.add(ours.cpu, base.cpu)
	})
	s.saturated = m
	return m
}

// burst is what came of events that were published as fast as it goes.
type burst struct {
	rate     float64 // deliveries a second
	p50, p99 float64 // from publishing to the receiver, in ms
	cpu      float64 // of a delivery, in ms
}

// run publishes n events, each of which goes to so many subscriptions.
func run(b *testing.B, r *receiver, n, each int, targets ...target) burst {
	b.Helper()
	r.reset()
	began := time.Now()
	if err := flood(n, targets...); err != nil {
		b.Fatal(err)
	}
	r.await(b, n*each)
	took := time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.came != n*each {
		b.Errorf("%d deliveries came of %d", r.came, n*each)
	}
	m := burst{rate: float64(n*each) / took.Seconds()}
	m.p50, m.p99 = percentile(r.waits, 50), percentile(r.waits, 99)
	return m
}

// measured is run with the CPU time that a process uses for it.
func measured(b *testing.B, pid int, r *receiver, n, each int, t target) (m burst) {
	b.Helper()
	if _, err := cpuTime(pid); err != nil {
		return run(b, r, n, each, t)
	}
	used := cpu(b, pid, func() { m = run(b, r, n, each, t) })
	m.cpu = used.Seconds() * 1000 / float64(n*each)
	return m
}

// percentile is in ms.
func percentile(waits []time.Duration, p int) float64 {
	sorted := slices.Sorted(slices.Values(waits))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)].Seconds() * 1000
}

func oneEndpoint(s *stage, b *testing.B) {
	s.table.note(b, s.saturate(b).rate, bounds{must: 5000, aim: 8000, more: true})
}

func saturatedLatency(s *stage, b *testing.B) {
	m := s.saturate(b)
	s.table.note(b, m.p50, bounds{must: 10, aim: 5})
	s.table.note(b, m.p99, bounds{must: 40, aim: 25})
}

func cpuOfAnEvent(s *stage, b *testing.B) {
	if s.table.canMeasure(b) {
		s.table.note(b, s.saturate(b).cpu, bounds{must: 0.25, aim: 0.15})
	}
}

func hundredEndpoints(s *stage, b *testing.B) {
	r, urls := listen(b, mostEvents)
	h, g := build(b), lay(b, urls[0])
	var events []string
	for n, url := range urls {
		h.subscribe(b, event(n), url)
		events = append(events, event(n))
	}
	s.compare(b, samples{what: "the same over 100 endpoints", metric: "deliveries/s", unit: "/s"},
		func() float64 { return run(b, r, atOnce, 1, h.target(events...)).rate },
		func() float64 { return run(b, r, atOnce, 1, g.target).rate },
		bounds{must: 4500, aim: 7000, more: true})
}

func tenSubscriptions(s *stage, b *testing.B) {
	const subscriptions = 10
	r, urls := listen(b, subscriptions)
	h, g := build(b), lay(b, urls[0])
	for _, url := range urls {
		h.subscribe(b, event(0), url)
	}
	s.compare(b, samples{what: "deliveries a second, one event to 10 subscriptions", metric: "deliveries/s", unit: "/s"},
		func() float64 { return run(b, r, atOnce/subscriptions, subscriptions, h.target(event(0))).rate },
		func() float64 { return run(b, r, atOnce, 1, g.target).rate },
		bounds{must: 5000, aim: 8000, more: true})
}

func durablePublishes(s *stage, b *testing.B) {
	_, urls := listen(b, 1)
	h, g := build(b), lay(b, urls[0])
	h.enable(b, h.subscribe(b, event(0), urls[0]), false)
	publish := func(t target) func() float64 {
		return func() float64 {
			began := time.Now()
			if err := flood(2*atOnce, t); err != nil {
				b.Fatal(err)
			}
			return 2 * atOnce / time.Since(began).Seconds()
		}
	}
	s.compare(b, samples{what: "durable publishes a second, delivery paused", metric: "publishes/s", unit: "/s"},
		publish(h.target(event(0))), publish(g.keeping()), bounds{must: 9000, aim: 16000, more: true})
}

// compare measures ours and the floor in turns.
func (s *stage) compare(b *testing.B, got samples, ours, base func() float64, w bounds) {
	b.Helper()
	ours() // until all is in its cache
	base()
	rounds(b, func(n int) {
		var o, f float64
		inTurns(n, func() { o = ours() }, func() { f = base() })
		got.add(o, f)
	})
	s.table.note(b, got, w)
}
