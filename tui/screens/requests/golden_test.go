package requests_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// loggedRequest is a row of the request log.
type loggedRequest struct {
	ID              int64 `json:"Id"`
	DateTime        string
	StatusCode      int
	HTTPMethod      string `json:"HttpMethod"`
	PathInfo        string
	RequestDuration string
	UserAuthID      string `json:"UserAuthId"`
	IPAddress       string `json:"IpAddress"`
}

// loggedMinute returns requests of the last minute, with errors of callers and of the service.
func loggedMinute(now time.Time) []loggedRequest {
	kinds := []loggedRequest{
		{StatusCode: 200, HTTPMethod: "GET", PathInfo: "/Queries/SO_Totals", RequestDuration: "PT0.0042S"},
		{StatusCode: 202, HTTPMethod: "POST", PathInfo: "/Webhooks/Events", RequestDuration: "PT0.0006S"},
		{
			StatusCode: 404, HTTPMethod: "GET", RequestDuration: "PT0.0011S",
			PathInfo: "/Webhooks/Subscribers/3f1c2ab4/Subscriptions/7d31aa04/Messages/01a2c445/Responses",
		},
		{StatusCode: 200, HTTPMethod: "GET", PathInfo: "/odata/IN_Colours", RequestDuration: "PT0.27S"},
		{StatusCode: 503, HTTPMethod: "GET", PathInfo: "/Queries/DB_Main", RequestDuration: "PT5.002S"},
		{StatusCode: 401, HTTPMethod: "POST", PathInfo: "/auth", RequestDuration: "PT0.081S"},
	}
	users := []string{"shop", "erp", "integration of the warehouse", "power-bi", "shop", ""}
	var rows []loggedRequest
	for i := range 60 {
		row := kinds[i%len(kinds)]
		row.ID = int64(1000 - i)
		row.DateTime = now.Add(-time.Duration(i) * time.Second).Format(wire.DateLayout)
		row.UserAuthID = users[i%len(users)]
		row.IPAddress = "10.2.0.9"
		rows = append(rows, row)
	}
	return rows
}

// serveLog returns a service like another one, with requests in its log.
func serveLog(t *testing.T, i *daemontest.Instance, rows []loggedRequest) *httptest.Server {
	t.Helper()
	target, err := url.Parse(i.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/Logs") {
			proxy.ServeHTTP(w, r)
			return
		}
		isCount := !strings.Contains(r.Header.Get("Accept"), "ndjson")
		if isCount {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"Offset":0,"Total":%d,"Results":[],"Meta":{},"ResponseStatus":{}}`, len(rows))
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set(wire.HeaderRowCount, fmt.Sprint(len(rows)))
		for _, row := range rows {
			_ = json.NewEncoder(w).Encode(row)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestRequestGoldens draws the request log with errors, short and long durations.
func TestRequestGoldens(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	start := time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC) // clock of the tests
	server := serveLog(t, i, loggedMinute(start))
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		c, err := client.New(client.Options{
			URL:      server.URL,
			User:     "admin",
			Password: daemontest.AdminPassword,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		for c.SentRequests() < 100 { // their number has three digits on the screen
			if _, err := c.Info(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		d := tuitest.Drive(t, c, o)
		d.AwaitLive()
		d.Press("6")
		d.Golden("S16-requests", appearance)
		if appearance == "colour" {
			d.GoldenConsoles("S16-requests")
		}
	})
}
