package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	demodata "github.com/bizhook/whd/daemon/demo"
)

var serverTiming = regexp.MustCompile(`^parse;dur=\d+\.\d\d, db;dur=\d+\.\d\d, first;dur=\d+\.\d\d$`)

// digestOf returns the expected X-Digest of a body.
func digestOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return "sha-256=" + hex.EncodeToString(sum[:])
}

// allRows returns the query string for all rows; HTML pages limit them by
// default.
func allRows(format string) string {
	if format == "html" {
		return "?Take=2147483647"
	}
	return ""
}

func TestSmallResponsesAreBuffered(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, format := range []string{"json", "csv", "xml", "jsv", "html", "ndjson"} {
		a := c.do("GET /"+format+"/reply/SO_TotalsQuery?Take=20", "", "Want-Digest: SHA-256;q=1, md5").want(t, 200).
			wantHeader(t, "X-Row-Count", "20").wantHeader(t, "Trailer", "")
		a.wantHeader(t, "Content-Length", fmt.Sprint(len(a.body))).wantHeader(t, "X-Digest", digestOf(a.body))
		if timing := a.header.Get("Server-Timing"); !serverTiming.MatchString(timing) {
			t.Errorf("Server-Timing is %q", timing)
		}
		if len(a.http.TransferEncoding) > 0 || len(a.http.Trailer) > 0 {
			t.Errorf("%s: %v with trailers %v", format, a.http.TransferEncoding, a.http.Trailer)
		}
	}
	c.do("GET /json/reply/SO_TotalsQuery?Take=20", "").wantHeader(t, "X-Digest", "")
	c.do("GET /json/reply/SO_TotalsQuery?Take=20&callback=f", "", "Want-Digest: sha-256").
		wantHeader(t, "X-Digest", digestOf(c.do("GET /json/reply/SO_TotalsQuery?Take=20&callback=f", "").body))
	c.do("GET /json/reply/SO_TotalsQuery?Take=0", "").want(t, 200).wantHeader(t, "X-Row-Count", "0")
}

func TestLargeResponsesEndWithTrailers(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	rows := fmt.Sprint(demodata.Count("SO_Totals"))
	for _, format := range []string{"json", "csv", "xml", "jsv", "html", "ndjson"} {
		a := c.do("GET /"+format+"/reply/SO_TotalsQuery"+allRows(format), "", "Want-Digest: sha-256").want(t, 200).
			wantHeader(t, "Content-Length", "").wantHeader(t, "X-Row-Count", "").wantHeader(t, "X-Digest", "")
		if a.http.Trailer.Get("X-Row-Count") != rows || a.http.Trailer.Get("X-Digest") != digestOf(a.body) {
			t.Errorf("%s: trailers %v", format, a.http.Trailer)
		}
		if timing := a.header.Get("Server-Timing"); !serverTiming.MatchString(timing) {
			t.Errorf("Server-Timing is %q", timing)
		}
	}
	a := c.do("GET /json/reply/SO_TotalsQuery", "")
	if _, digest := a.http.Trailer["X-Digest"]; digest || a.http.Trailer.Get("X-Row-Count") != rows {
		t.Errorf("trailers %v", a.http.Trailer)
	}
	if e := a.envelope(t); fmt.Sprint(len(e.Results)) != rows || fmt.Sprint(*e.Total) != rows {
		t.Errorf("%d rows, total %d", len(e.Results), *e.Total)
	}
}

func TestOffsetAndTotalInCSV(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	rows := fmt.Sprint(demodata.Count("SO_Totals"))
	c.do("GET /csv/reply/SO_TotalsQuery?Skip=5&Take=3", "").want(t, 200).wantHeader(t, "X-Offset", "5").
		wantHeader(t, "X-Total", rows)
	c.do("GET /csv/reply/SO_TotalsQuery?Take=3&Include=NoTotal", "").want(t, 200).wantHeader(t, "X-Offset", "0").
		wantHeader(t, "X-Total", "")
	c.do("GET /csv/reply/DB_ClassQuery", "").want(t, 200).
		wantHeader(t, "X-Total", fmt.Sprint(demodata.Count("DB_Class")))
	c.do("GET /csv/reply/SO_TotalsQuery", "").want(t, 200).wantHeader(t, "X-Offset", "0").wantHeader(t, "X-Total", "")
	c.do("GET /json/reply/SO_TotalsQuery?Skip=5&Take=3", "").want(t, 200).wantHeader(t, "X-Offset", "")
}

func TestHTTP10GetsTheWholeResponse(t *testing.T) {
	i := demo.start(t)
	want := asAdmin(t, i).do("GET /csv/reply/SO_TotalsQuery", "").body
	w := dial(t, i)
	w.send("", "GET /csv/reply/SO_TotalsQuery HTTP/1.0")
	a, err := w.readResponse()
	if err != nil || a.status != 200 || a.body != want {
		t.Errorf("%v, %d bytes, want %d", err, len(a.body), len(want))
	}
	if _, err := w.in.ReadByte(); err != io.EOF {
		t.Errorf("the connection does not end: %v", err)
	}
}

func TestClampedTake(t *testing.T) {
	i := startWithView(t, "SY_Filters", endless, "--query-max-take", "7")
	c := asAdmin(t, i)
	a := c.do("GET /json/reply/SO_TotalsQuery?Take=9", "").want(t, 200).wantHeader(t, "X-Take-Clamped", "7")
	if n := len(a.envelope(t).Results); n != 0 {
		t.Errorf("%d rows", n)
	}
	c.do("GET /json/reply/SO_TotalsQuery?Take=7", "").want(t, 200).wantHeader(t, "X-Take-Clamped", "")
}

func TestManyRequestsOnOneConnection(t *testing.T) {
	w := dial(t, demo.start(t))
	var bodies []string
	for range 3 {
		w.send("", "GET /json/reply/DB_ClassQuery HTTP/1.1")
		w.send("{}", "POST /json/reply/SO_TotalsQuery HTTP/1.1", "Content-Length: 2")
		w.send("", "GET /nothing HTTP/1.1")
	}
	for range 3 {
		for _, status := range []int{200, 200, 404} {
			a, err := w.readResponse()
			if err != nil {
				t.Fatal(err)
			}
			a.want(t, status)
			bodies = append(bodies, a.body)
		}
	}
	if bodies[0] != bodies[3] || bodies[1] != bodies[4] || !strings.Contains(bodies[2], "NotFound") {
		t.Error("responses in the wrong order")
	}
}
