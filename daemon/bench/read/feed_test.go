package read

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// feedPages measures all rows by OData, page after page, against one NDJSON response.
func feedPages(s *stage, b *testing.B) {
	both, err := s.largeServers()
	if err != nil {
		b.Fatal(err)
	}
	wall := samples{metric: "wall", unit: "s", digits: 3, named: "ndjson"}
	cpu := samples{metric: "cpu", unit: "s", digits: 3, named: "ndjson"}
	used := func(read reader) cost {
		var c cost
		before, cpuErr := benchtest.CPUTime(both.whd.PID())
		took, err := lasted(func() error { return read(dialled(b, both.whd), both.data) })
		if err != nil {
			b.Fatal(err)
		}
		c.wall = took.Seconds()
		if cpuErr == nil {
			after, _ := benchtest.CPUTime(both.whd.PID()) // as before
			c.cpu = (after - before).Seconds()
		}
		return c
	}
	rounds(b, 3, func(n int) {
		var feed, ndjson cost
		benchtest.InTurns(n, func() { feed = used(wholeFeed) }, func() { ndjson = used(whole("ndjson", "")) })
		wall.add(feed.wall, ndjson.wall)
		cpu.add(feed.cpu, ndjson.cpu)
	})
	s.table.times(b, "1M rows by OData in pages of 10,000, wall", wall, 2)
	if cpu.base[0] > 0 {
		s.table.times(b, "1M rows by OData in pages of 10,000, CPU", cpu, 2)
	}
}

// ending keeps the end of a response.
type ending struct{ text []byte }

func (e *ending) Write(b []byte) (int, error) {
	const most = 4 << 10
	e.text = append(e.text, b[max(0, len(b)-most):]...)
	if len(e.text) > 2*most {
		e.text = append(e.text[:0], e.text[len(e.text)-most:]...)
	}
	return len(b), nil
}

// wholeFeed reads all pages on one connection, and checks the number of rows.
func wholeFeed(conn *connection, d data) error {
	login := base64.StdEncoding.EncodeToString([]byte(d.key + ":"))
	rows, pages := 0, 0
	path := "/odata/SO_Totals"
	for path != "" {
		var end ending
		response, err := conn.send([]byte("GET "+path+" HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic "+login+"\r\n\r\n"), &end)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(response.Trailer.Get(wire.HeaderRowCount))
		if err != nil {
			return err
		}
		rows += n
		pages++

		_, link, found := strings.Cut(string(end.text), `"@odata.nextLink":`)
		if !found {
			break
		}
		if err := json.Unmarshal([]byte(strings.TrimSuffix(link, "}")), &path); err != nil {
			return err
		}
		path = strings.TrimPrefix(path, "http://bench")
	}
	if rows != d.rows || pages < rows/10_000 {
		return fmt.Errorf("%d rows on %d pages", rows, pages)
	}
	return nil
}
