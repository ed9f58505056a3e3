package read

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// connections is the number of concurrent clients.
const connections = 8

func oneRow(s *stage, b *testing.B) {
	s.pages(b, "one row by key, CPU", row, 4000, 2.1)
}

func pageOf100(s *stage, b *testing.B) {
	s.pages(b, "page of 100, CPU", page100, 1200, 1.5)
}

func pageOf1000(s *stage, b *testing.B) {
	s.pages(b, "page of 1000, CPU", page1000, 160, 1.3)
}

// pages measures the servers' CPU time for a question, with count requests per
// round.
func (s *stage) pages(b *testing.B, name string, q question, count int, atMost float64) {
	if got, ok := s.cpuTimes(b, q, q, count); ok {
		s.table.times(b, name, got, atMost)
	}
}

// cpuTimes measures the CPU time of whd for a question, and of the floor for base.
func (s *stage) cpuTimes(b *testing.B, q, base question, count int) (got samples, ok bool) {
	both, err := s.smallServers()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := benchtest.CPUTime(both.whd.PID()); err != nil {
		s.table.Skip(b, err.Error())
		return got, false
	}
	got = samples{metric: "cpu", unit: "ms", digits: 4, named: "floor"}
	whd, floor := newClients(b, both.data, both.whd), newClients(b, both.data, both.floor)
	whd.cpu(b, q, connections*10) // until all data is cached
	floor.cpu(b, base, connections*10)
	const many = 11 // many short rounds, to average out the load of the machine
	rounds(b, many, func(n int) {
		var o, f float64
		benchtest.InTurns(n, func() { o = whd.cpu(b, q, count) }, func() { f = floor.cpu(b, base, count) })
		got.add(o, f)
	})
	return got, true
}

// clients send requests to one server.
type clients struct {
	data    data
	server  *child
	clients [connections]*connection
}

func newClients(b *testing.B, d data, server *child) *clients {
	c := &clients{data: d, server: server}
	for i := range c.clients {
		conn, err := dial(server)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		c.clients[i] = conn
	}
	return c
}

// cpu sends count requests and returns the server's CPU time for one, in ms.
func (c *clients) cpu(b *testing.B, q question, count int) float64 {
	used, err := cpuOf(c.server.PID(), func() error { return c.send(q, count) })
	if err != nil {
		b.Fatal(err)
	}
	return used.Seconds() * 1000 / float64(count)
}

func (c *clients) send(q question, count int) error {
	var all sync.WaitGroup
	errs := make([]error, len(c.clients))
	for i, conn := range c.clients {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(i), uint64(count)))
			for range count / len(c.clients) {
				// Without the last ids, so that every page is full.
				request := c.data.request(c.server, q, dice.IntN(c.data.rows-5000))
				_, errs[i] = conn.send(request, io.Discard)
				if errs[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
