package browse_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// A key shows the statistics of the selected column over all rows that match the filters. They are
// kept for the column and the filters.
func TestStatisticsOfColumns(t *testing.T) {
	d, _ := openOrders(t)
	d.WantNoText("count ")
	for i, want := range []string{
		"No  count 7  sum 28 / average 4.00  smallest 1  largest 7",
		"Class  count 5 / largest say",
		"Ordered  count 6 / smallest 0001-01-01  largest 9999-12-31",
		"Amount  count 5  sum 12,345,678,901,234,567,886.52 / smallest -4",
		"Weight  count 6",
		"Active  count 6 ",
	} {
		browser(t, d).Grid.Columns.GoTo(i)
		d.Press("i")
		d.WantText(strings.Split(want, " / ")...)
		d.CheckScreen()
	}

	browser(t, d).Grid.Columns.GoTo(0)
	d.WantText("No  count 7  sum 28")
	d.Press("=")
	d.WantText("No  i statistics")
	d.ClickOn("i statistics")
	d.WantText("No  count 1  sum 1 ", "average 1.00")
	d.Resize(200, 60)
	d.WantText("No  count 1  sum 1  average 1.00")
	d.Resize(80, 24)
	d.Press("F")
	d.WantNoText("count 1")
	d.Press("t", "i")
	d.WantText("groups have no statistics")
}

// The statistics have a time limit, and a request ends when its column or the screen is left.
func TestStatisticsAreCancelled(t *testing.T) {
	started := make(chan struct{}, 3)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "COUNT(") {
			started <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"Offset":0,"Total":0,"Results":[],"Meta":{},"ResponseStatus":{}}`)
	}))
	t.Cleanup(server.Close)
	d := driveServer(t, server)
	d.Press(":", "'SO_Totals", "enter", "esc", "i")
	d.WantText("InvoiceID  not within 2 s")
	<-started

	for _, leave := range []string{"l", "h", "1"} {
		d.Deliver(tuitest.Letter("i"))
		<-started
		d.WantText("...")
		d.Press(leave) // waits for the response
	}
	d.Press("2")
	d.WantText("InvoiceID  not within 2 s")
	d.Press("l")
	d.WantText("InvoiceTotal  i statistics")
}

// On the embedded store, the statistics of a column are computed once it has been selected for a
// while, and end when it or the screen is left. Another service gets no request without a key.
func TestStatisticsWithoutKey(t *testing.T) {
	for _, embedded := range []bool{true, false} {
		started := make(chan string, 10)
		release := make(chan struct{}, 10)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/Sessions/Current" {
				_, _ = fmt.Fprintf(w, `{"UserName":"ann","Role":"reader","EmbeddedRecords":%t}`, embedded)
				return
			}
			if _, column, ok := strings.Cut(string(body), "COUNT("); ok {
				started <- column[:strings.Index(column, ")")]
				select {
				case <-release:
				case <-r.Context().Done():
					return
				}
			}
			_, _ = io.WriteString(w, `{"Offset":0,"Total":0,"Results":[],"Meta":{"COUNT(InvoiceID)":"12"},"ResponseStatus":{}}`)
		}))
		t.Cleanup(server.Close)
		d := driveServer(t, server)
		d.Press(":", "'SO_Totals", "enter", "esc")
		if !embedded {
			d.Advance(time.Second)
			if len(started) > 0 {
				t.Errorf("a service without embedded records got a request for %s", <-started)
			}
			d.WantNoText("i statistics")
			continue
		}

		d.WantText("InvoiceID  i statistics")
		d.Press("l", "h", "l", "h")
		release <- struct{}{}
		d.Advance(time.Second / 2)
		d.WantText("InvoiceID  count 12")
		if column := <-started; column != "InvoiceID" || len(started) > 0 {
			t.Errorf("moving over columns computed %s and %d others", column, len(started))
		}

		d.Press("l", "h")
		d.Advance(time.Second / 2)
		if len(started) > 0 {
			t.Errorf("known statistics were computed again: %s", <-started)
		}
	}
}

// driveServer shows the screens of a service.
func driveServer(t *testing.T, server *httptest.Server) *tuitest.Driver {
	t.Helper()
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return tuitest.Drive(t, c, tui.Options{})
}
