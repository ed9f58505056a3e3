package delivery

import (
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// suite is the state shared by the measurements.
type suite struct {
	table     table
	saturated *saturation
}

// saturation holds the results of a daemon with one endpoint and the maximum rate of
// events, compared with the floor.
type saturation struct {
	rate      samples
	p50       samples
	p99       samples
	cpu       samples
	plainRate samples // of the plainest program
	plainCPU  samples
}

const eventsPerRound = 5000 // events per round

// saturate returns the saturation, measured on the first call.
func (s *suite) saturate(b *testing.B) *saturation {
	b.Helper()
	if s.saturated != nil {
		for b.Loop() { // otherwise the measurement would be repeated, and reported
		}
		return s.saturated
	}
	r, urls := listen(b, 1)
	h := startDaemon(b)
	g := startFloor(b, urls[0])
	plainest := startPlain(b, urls[0])
	h.subscribe(b, event(0), urls[0])
	m := &saturation{
		rate: samples{title: "deliveries a second, one endpoint, 32 publishers", metric: "deliveries/s", unit: "/s"},
		p50:  samples{title: "publish to received at saturation, median", metric: "p50-ms", unit: "ms", digits: 1},
		p99:  samples{title: "publish to received at saturation, p99", metric: "p99-ms", unit: "ms", digits: 1},
		cpu:  samples{title: "CPU of a delivered event", metric: "cpu-ms", unit: "ms", digits: 3},

		plainRate: samples{title: "the same of the plainest program", metric: "plain-deliveries/s", unit: "/s"},
		plainCPU:  samples{title: "the same of the plainest program", metric: "plain-cpu-ms", unit: "ms", digits: 3},
	}
	measure(b, r, 500, 1, g.target) // fills the cache
	measure(b, r, 500, 1, h.publishTarget(event(0)))
	rounds(b, func(n int) {
		var daemon, floor measurement
		benchtest.InTurns(n,
			func() { daemon = measureCPU(b, h.PID(), r, eventsPerRound, 1, h.publishTarget(event(0))) },
			func() { floor = measureCPU(b, g.PID(), r, eventsPerRound, 1, g.target) })
		m.rate.add(daemon.rate, floor.rate)
		m.p50.add(daemon.p50, floor.p50)
		m.p99.add(daemon.p99, floor.p99)
		m.cpu.add(daemon.cpu, floor.cpu)
	})
	for range minRounds { // afterwards, since its fsyncs would delay those of the others
		p := measureCPU(b, plainest.PID(), r, eventsPerRound, 1, plainest.target)
		m.plainRate.values = append(m.plainRate.values, p.rate)
		m.plainCPU.values = append(m.plainCPU.values, p.cpu)
	}
	s.saturated = m
	return m
}

// measurement is the result of publishing events as fast as possible.
type measurement struct {
	rate     float64 // deliveries per second
	p50, p99 float64 // from publishing to receiving, in ms
	cpu      float64 // per delivery, in ms
}

// measure publishes n events, each with the given number of matching subscriptions.
func measure(b *testing.B, r *receiver, n, subscriptions int, targets ...target) measurement {
	b.Helper()
	r.reset()
	began := time.Now()
	if err := publishAll(n, targets...); err != nil {
		b.Fatal(err)
	}
	r.await(b, n*subscriptions)
	took := time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.received != n*subscriptions {
		b.Errorf("%d deliveries, want %d", r.received, n*subscriptions)
	}
	return measurement{
		rate: float64(n*subscriptions) / took.Seconds(),
		p50:  percentile(r.latencies, 50),
		p99:  percentile(r.latencies, 99),
	}
}

// measureCPU is measure with the CPU time that a process uses.
func measureCPU(b *testing.B, pid int, r *receiver, n, subscriptions int, t target) (m measurement) {
	b.Helper()
	if _, err := benchtest.CPUTime(pid); err != nil {
		return measure(b, r, n, subscriptions, t)
	}
	used := benchtest.CPUUsed(b, pid, func() { m = measure(b, r, n, subscriptions, t) })
	m.cpu = used.Seconds() * 1000 / float64(n*subscriptions)
	return m
}

// percentile returns a percentile in ms.
func percentile(waits []time.Duration, p int) float64 {
	sorted := slices.Sorted(slices.Values(waits))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)].Seconds() * 1000
}

func oneEndpoint(s *suite, b *testing.B) {
	m := s.saturate(b)
	s.table.addSamples(b, m.rate, limits{limit: 5000, goal: 8000, moreIsBetter: true})
	s.table.addProbe(b, m.plainRate)
}

func saturatedLatency(s *suite, b *testing.B) {
	m := s.saturate(b)
	s.table.addSamples(b, m.p50, limits{limit: 10, goal: 5})
	s.table.addSamples(b, m.p99, limits{limit: 40, goal: 25})
}

func cpuOfAnEvent(s *suite, b *testing.B) {
	if s.table.UsageAvailable(b) {
		m := s.saturate(b)
		s.table.addSamples(b, m.cpu, limits{limit: 0.25, goal: 0.15})
		s.table.addProbe(b, m.plainCPU)
	}
}

func hundredEndpoints(s *suite, b *testing.B) {
	r, urls := listen(b, maxEvents)
	h := startDaemon(b)
	g := startFloor(b, urls[0])
	var events []string
	for n, url := range urls {
		h.subscribe(b, event(n), url)
		events = append(events, event(n))
	}
	s.compare(b, samples{title: "the same over 100 endpoints", metric: "deliveries/s", unit: "/s"},
		func() float64 { return measure(b, r, eventsPerRound, 1, h.publishTarget(events...)).rate },
		func() float64 { return measure(b, r, eventsPerRound, 1, g.target).rate },
		limits{limit: 4500, goal: 7000, moreIsBetter: true})
}

func tenSubscriptions(s *suite, b *testing.B) {
	const subscriptions = 10
	r, urls := listen(b, subscriptions)
	h := startDaemon(b)
	g := startFloor(b, urls[0])
	for _, url := range urls {
		h.subscribe(b, event(0), url)
	}
	s.compare(b, samples{
		title:  "deliveries a second, one event to 10 subscriptions",
		metric: "deliveries/s",
		unit:   "/s",
	},
		func() float64 {
			return measure(b, r, eventsPerRound/subscriptions, subscriptions, h.publishTarget(event(0))).rate
		},
		func() float64 { return measure(b, r, eventsPerRound, 1, g.target).rate },
		limits{limit: 5000, goal: 8000, moreIsBetter: true})
}

func durablePublishes(s *suite, b *testing.B) {
	_, urls := listen(b, 1)
	h := startDaemon(b)
	g := startFloor(b, urls[0])
	plainest := startPlain(b, plainStore)
	h.enable(b, h.subscribe(b, event(0), urls[0]), false)
	publish := func(t target) func() float64 {
		return func() float64 {
			began := time.Now()
			if err := publishAll(2*eventsPerRound, t); err != nil {
				b.Fatal(err)
			}
			return 2 * eventsPerRound / time.Since(began).Seconds()
		}
	}
	s.compare(b, samples{title: "durable publishes a second, delivery paused", metric: "publishes/s", unit: "/s"},
		publish(h.publishTarget(event(0))),
		publish(g.storeOnly()),
		limits{limit: 9000, goal: 16000, moreIsBetter: true})
	probe := samples{title: "the same of the plainest program", metric: "plain-publishes/s", unit: "/s"}
	for range minRounds {
		probe.values = append(probe.values, publish(plainest.target)())
	}
	s.table.addProbe(b, probe)
}

// compare measures the daemon and the floor in alternating order.
func (s *suite) compare(b *testing.B, samples samples, daemon, floor func() float64, limits limits) {
	b.Helper()
	daemon() // fills the cache
	floor()
	rounds(b, func(n int) {
		var o, f float64
		benchtest.InTurns(n, func() { o = daemon() }, func() { f = floor() })
		samples.add(o, f)
	})
	s.table.addSamples(b, samples, limits)
}
