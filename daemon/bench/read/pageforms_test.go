package read

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// cursorPage measures a page by cursor against the same page without one.
func cursorPage(s *stage, b *testing.B) {
	byCursor := page100
	byCursor.body = strings.Replace(page100.body, `"Take"`, `"Cursor":"","Take"`, 1)
	s.againstPage(b, "page of 100 by cursor, CPU", byCursor, 1.15)
}

// feedPage measures a page by OData against the same page as JSON.
func feedPage(s *stage, b *testing.B) {
	s.againstPage(b, "page of 100 by OData, CPU", question{
		path: "/odata/SO_Totals?$filter=InvoiceID%20ge%20'%s'%20and%20InvoiceTotal%20gt%2012500.50&$orderby=InvoiceID&$top=100",
		get:  true,
	}, 1.3)
}

// againstPage measures whd's CPU time for a question against that for page100.
func (s *stage) againstPage(b *testing.B, name string, q question, atMost float64) {
	both, err := s.smallServers()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := benchtest.CPUTime(both.whd.PID()); err != nil {
		s.table.Skip(b, err.Error())
		return
	}
	c := newClients(b, both.data, both.whd)
	c.cpu(b, q, connections*10)
	got := samples{metric: "cpu", unit: "ms", digits: 4, named: "page"}
	rounds(b, 11, func(n int) {
		var other, page float64
		benchtest.InTurns(n, func() { other = c.cpu(b, q, 800) }, func() { page = c.cpu(b, page100, 800) })
		got.add(other, page)
	})
	s.table.times(b, name, got, atMost)
}

// get returns a request by GET, with the API key as the user name of Basic, as Excel sends it.
func (d data) get(path string) []byte {
	login := base64.StdEncoding.EncodeToString([]byte(d.key + ":"))
	return []byte("GET " + path + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic " + login + "\r\n\r\n")
}
