package browse_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, c, tui.Options{})
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
