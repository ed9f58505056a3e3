package read

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// exports measures whole exports, in CPU time of the server and in elapsed time.
func exports(s *stage, b *testing.B) {
	b.Run("100k", func(b *testing.B) { s.exports(b, "export of 100k rows", s.smallServers, export, 5) })
	b.Run("1M", func(b *testing.B) { s.exports(b, "export of 1M rows", s.largeServers, export, 1) })
	b.Run("CSV", func(b *testing.B) {
		if both, err := s.smallServers(); err != nil || both.compare(exportCSV) != nil {
			b.Fatal(err, both.compare(exportCSV))
		}
		s.exports(b, "export of 100k rows as CSV", s.smallServers, exportCSV, 5)
	})
}

// exports measures count exports per round.
func (s *stage) exports(b *testing.B, name string, serve func() (servers, error), q question, count int) {
	both, err := serve()
	if err != nil {
		b.Fatal(err)
	}
	cpu := samples{metric: "cpu", unit: "s", digits: 3, named: "floor"}
	wall := samples{metric: "wall", unit: "s", digits: 3, named: "floor"}
	rounds(b, minRounds, func(n int) {
		var whd, floor cost
		benchtest.InTurns(n, func() { whd = both.export(b, both.whd, q, count) }, func() { floor = both.export(b, both.floor, q, count) })
		cpu.add(whd.cpu, floor.cpu)
		wall.add(whd.wall, floor.wall)
		if whd.bytes != floor.bytes {
			b.Fatalf("whd sends %d bytes, the floor %d", whd.bytes, floor.bytes)
		}
	})
	if _, err := benchtest.CPUTime(both.whd.PID()); err != nil {
		s.table.Skip(b, err.Error())
	} else {
		s.table.times(b, name+", CPU", cpu, 1.5)
	}
	s.table.times(b, name+", wall", wall, 1.5)
}

// cost is the cost of one export, in seconds.
type cost struct {
	cpu   float64 // 0 if it cannot be read
	wall  float64
	bytes int64
}

// export returns the mean cost of count exports.
func (s servers) export(b *testing.B, c *child, q question, count int) (all cost) {
	cpu, cpuErr := benchtest.CPUTime(c.PID())
	wall, err := lasted(func() (err error) {
		for range count {
			if all.bytes, err = s.data.readAll(c, q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	all.wall = wall.Seconds() / float64(count)
	if cpuErr == nil {
		after, _ := benchtest.CPUTime(c.PID()) // as before
		all.cpu = (after - cpu).Seconds() / float64(count)
	}
	return all
}

// readAll exports and returns the number of bytes.
func (d data) readAll(c *child, q question) (int64, error) {
	conn, err := dial(c)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	response, err := conn.begin(d.request(c, q, 0))
	if err != nil {
		return 0, err
	}
	bytes, err := io.Copy(io.Discard, response.Body)
	if rows := response.Trailer.Get(wire.HeaderRowCount); err == nil && c.role == roleDaemon && rows != strconv.Itoa(d.rows) {
		err = fmt.Errorf("%s: %q instead of %d", wire.HeaderRowCount, rows, d.rows)
	}
	return bytes, err
}

// firstByte measures the time to the first byte of an export.
func firstByte(s *stage, b *testing.B) {
	for _, c := range []struct {
		name  string
		title string
		serve func() (servers, error)
		q     question
	}{
		{"100k", "first byte of 100k rows", s.smallServers, export},
		{"1M", "first byte of 1M rows", s.largeServers, export},
		{"100k-ordered", "first byte of 100k rows in index order", s.smallServers, ordered},
		{"1M-ordered", "first byte of 1M rows in index order", s.largeServers, ordered},
	} {
		b.Run(c.name, func(b *testing.B) {
			both, err := c.serve()
			if err != nil {
				b.Fatal(err)
			}
			got := samples{metric: "wait", unit: "ms", digits: 2, named: "floor"}
			rounds(b, minRounds, func(n int) {
				var whd, floor float64
				benchtest.InTurns(n, func() { whd = both.wait(b, both.whd, c.q) }, func() { floor = both.wait(b, both.floor, c.q) })
				got.add(whd, floor)
			})
			s.table.below(b, c.title, got, 3)
		})
	}
}

// wait returns the median time to the first byte of several responses, in ms.
func (s servers) wait(b *testing.B, c *child, q question) float64 {
	const tries = 9
	waits := make([]float64, tries)
	for i := range waits {
		waited, err := s.data.wait(c, q)
		if err != nil {
			b.Fatal(err)
		}
		waits[i] = waited.Seconds() * 1000
	}
	return benchtest.Median(waits)
}

// wait sends a request, and disconnects after the first byte.
func (d data) wait(c *child, q question) (waited time.Duration, err error) {
	conn, err := dial(c)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	request := d.request(c, q, 0)
	return lasted(func() error {
		response, err := conn.begin(request)
		if err == nil {
			_, err = io.ReadFull(response.Body, make([]byte, 1))
		}
		return err
	})
}
