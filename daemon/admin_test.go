package daemon_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/daemontest"
)

// Profiles are for those on this host, and without the command line.
func TestAdminListener(t *testing.T) {
	noLeaks(t)
	i := daemontest.Start(t, "--admin-listen", "127.0.0.1:0")
	if reply, _ := get(t, i.URL+"/debug/pprof/"); reply.StatusCode != 404 {
		t.Errorf("everybody: status %d", reply.StatusCode)
	}
	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(i.Log.Await(t, "listening", "for=admin"))[1]
	for path, want := range map[string]int{
		"/debug/pprof/": 200, "/debug/pprof/heap": 200, "/debug/pprof/goroutine?debug=2": 200, "/debug/pprof/profile?seconds=1": 200,
		"/debug/pprof/cmdline": 404, "/": 404, "/json/reply/DB_ClassQuery": 404,
	} {
		if reply, body := get(t, "http://"+address+path); reply.StatusCode != want || strings.Contains(body, i.Dir) {
			t.Errorf("%s: status %d, want %d", path, reply.StatusCode, want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+"/debug/pprof/heap", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host, r.Close = "rebound.example:80", true
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != 403 {
		t.Errorf("under a foreign name: status %d", reply.StatusCode)
	}
}

func TestAdminListensHereOnly(t *testing.T) {
	for address, fine := range map[string]bool{
		"127.0.0.1:5051": true, "127.8.8.8:1": true, "[::1]:5051": true, "localhost:5051": true, "": true,
		":5051": false, "0.0.0.0:5051": false, "[::]:5051": false, "192.168.1.5:5051": false, "erp.example:5051": false, "127.0.0.1": false,
	} {
		_, _, err := daemon.LoadConfig([]string{"--data-dir", "x", "--admin-listen=" + address}, nil, os.ReadFile)
		if (err == nil) != fine {
			t.Errorf("%q: %v", address, err)
		}
	}
}
