package home_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// Captures that have stopped or lag by more than two sweeps are listed with the reason, and
// open their changes.
func TestHomeShowsLateCaptures(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	target, err := url.Parse(i.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/Changes" {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[{"Kind":"IN_Colours","Phase":"capturing","Lag":"PT10M","Reason":"a lock"},{"Kind":"SO_Totals","Phase":"capturing","Lag":"PT1M50S","Reason":"slow"},{"Kind":"CR_Main","Phase":"stopped","Reason":"read as empty","Lag":"PT1S","Manual":true}]`)
	}))
	t.Cleanup(func() {
		service.CloseClientConnections()
		service.Close()
	})
	c, err := client.New(client.Options{URL: service.URL, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{})
	d.AwaitLive()
	d.WantText("Changes are late", "10m  IN_Colours  a lock", "1s  CR_Main  read as empty")
	d.WantNoText("SO_Totals")
	d.CheckScreen()
	d.Press("enter")
	d.WantText("Changes of IN_Colours")
}
