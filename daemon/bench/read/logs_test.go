package read

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// oneRowLogged measures the CPU time of the first figure's question with the default logs,
// and with a line for each request as well, as a multiple of that without them. Every
// request has an API key.
func oneRowLogged(s *stage, b *testing.B) {
	run := func(name, settings string) *clients {
		d, err := fill(filepath.Join(s.dir, name), small, invoices(small))
		if err != nil {
			b.Fatal(err)
		}
		d.env = settings
		c, err := s.run(roleDaemon, d)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := benchtest.CPUTime(c.PID()); err != nil {
			b.Skip(err)
		}
		clients := newClients(b, d, c)
		clients.cpu(b, row, connections*10) // until all data is cached
		return clients
	}
	silent := run("silent", "WHD_REQUESTLOG_ENABLED=false WHD_LOG_LEVEL=warn")
	logged, lines := run("logged", ""), run("lines", "WHD_LOG_REQUESTS=always")
	standard := samples{metric: "cpu", unit: "ms", digits: 4, named: "without logs"}
	always := samples{metric: "cpu-lines", unit: "ms", digits: 4, named: "without logs"}
	const many, count = 21, 4000 // many short rounds, to average out the load of the machine
	rounds(b, many, func(n int) {
		var with, all, without float64
		benchtest.InTurns(n, func() { with, all = logged.cpu(b, row, count), lines.cpu(b, row, count) }, func() { without = silent.cpu(b, row, count) })
		standard.add(with, without)
		always.add(all, without)
	})
	s.table.times(b, "one row by key with the default logs, CPU", standard, 1.12)
	s.table.times(b, "one row by key with log.requests = always, CPU", always, 1.25)
}
