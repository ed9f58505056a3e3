package read

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// pagesByCursor measures a page far from the first one, by cursor and by Skip, in the order
// of the key and of a field with an index, nulls and many equal values.
func pagesByCursor(s *stage, b *testing.B) {
	both, err := s.largeServers()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := benchtest.CPUTime(both.whd.PID()); err != nil {
		s.table.Skip(b, err.Error())
		return
	}
	for _, order := range []string{`"OrderBy":"InvoiceID"`, `"OrderByDesc":"InvoiceID"`, `"OrderBy":"Cartage3Total"`, `"OrderByDesc":"Cartage3Total"`} {
		b.Run(strings.NewReplacer(`"`, "", ":", "").Replace(order), func(b *testing.B) { s.pageByCursor(b, both, order) })
	}
}

func (s *stage) pageByCursor(b *testing.B, both servers, order string) {
	const near, far = large / 100, large * 9 / 10
	page := func(where string) question {
		return question{body: `{` + order + `,"Take":100,"Include":"NoTotal",` + where + `}`}
	}
	after := func(rows int) question {
		text := both.data.request(both.whd, question{body: fmt.Sprintf(`{%s,"Take":%d,"Include":"NoTotal","Cursor":""}`, order, rows)}, 0)
		var reply struct{ Meta struct{ Next string } }
		var body bytes.Buffer
		if _, err := dialled(b, both.whd).send(text, &body); err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(body.Bytes(), &reply); err != nil || reply.Meta.Next == "" {
			b.Fatal("a page has no cursor", err)
		}
		return page(`"Cursor":"` + reply.Meta.Next + `"`)
	}
	first := page(`"Cursor":""`)
	nearPage := after(near)
	farPage := after(far)
	skip := func(rows int) float64 { // one at a time: a sort of all rows can exceed the time limit
		used, err := cpuOf(both.whd.PID(), func() error {
			_, err := dialled(b, both.whd).send(both.data.request(both.whd, page(fmt.Sprintf(`"Skip":%d`, rows)), 0), io.Discard)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		return used.Seconds() * 1000
	}
	c := newClients(b, both.data, both.whd) // now, since idle connections are closed
	c.cpu(b, first, connections*10)
	c.cpu(b, farPage, connections*10)
	got := samples{metric: "cpu", unit: "ms", digits: 4, named: "page 1"}
	var closer, skipped, skippedNear []float64
	rounds(b, 11, func(n int) {
		var f, p float64
		benchtest.InTurns(n, func() { f = c.cpu(b, farPage, 800) }, func() { p = c.cpu(b, first, 800) })
		got.add(f, p)
		if n >= 3 {
			return
		}
		closer = append(closer, c.cpu(b, nearPage, 800))
		skipped, skippedNear = append(skipped, skip(far)), append(skippedNear, skip(near))
	})
	exponent := func(far, near []float64, by float64) float64 {
		return math.Log(benchtest.Median(far)/benchtest.Median(near)) / math.Log(by)
	}
	order = strings.NewReplacer(`"`, "", ":", " ").Replace(order)
	s.table.times(b, "page at row 900,000 by cursor, "+order+", CPU", got, 1.3)
	s.table.checked(b, "", fmt.Sprintf("exponent from row 10,000 %.2f; by Skip %.2f, %.0f times page 1", exponent(got.whd, closer, far/near),
		exponent(skipped, skippedNear, far/near), benchtest.Median(skipped)/benchtest.Median(got.base)), "", true)
}

func dialled(b *testing.B, server *child) *connection {
	conn, err := dial(server)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn
}
