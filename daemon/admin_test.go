package daemon_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestAdminListener checks that profiles are served on the admin listener only, to
// requests for this host, and without the command line.
func TestAdminListener(t *testing.T) {
	noLeaks(t)
	i := daemontest.Start(t, "--admin-listen", "127.0.0.1:0")
	if reply, _ := get(t, i.URL+"/debug/pprof/"); reply.StatusCode != 404 {
		t.Errorf("/debug/pprof/ on the main listener: status %d, want 404", reply.StatusCode)
	}

	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(i.Log.Await(t, "listening", "for=admin"))[1]
	for path, want := range map[string]int{
		"/debug/pprof/":                  200,
		"/debug/pprof/heap":              200,
		"/debug/pprof/goroutine?debug=2": 200,
		"/debug/pprof/profile?seconds=1": 200,
		"/debug/pprof/cmdline":           404,
		"/":                              404,
		"/json/reply/DB_ClassQuery":      404,
	} {
		if reply, body := get(t, "http://"+address+path); reply.StatusCode != want || strings.Contains(body, i.Dir) {
			t.Errorf("%s: status %d, want %d", path, reply.StatusCode, want)
		}
	}

	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+"/debug/pprof/heap", nil)
	if err != nil {
		t.Fatal(err)
	}

	r.Close = true
	localHost := r.Host
	for _, c := range []struct{ host, site string }{
		{host: "rebound.example:80", site: "same-origin"},
		{host: localHost, site: "cross-site"},
	} {
		r.Host = c.host
		r.Header.Set("Sec-Fetch-Site", c.site)
		reply, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != 403 {
			t.Errorf("%+v: status %d", c, reply.StatusCode)
		}
	}
}

// A CPU profile in progress neither delays the shutdown nor makes it fail.
func TestStopDuringProfile(t *testing.T) {
	noLeaks(t)
	i := daemontest.Start(t, "--admin-listen", "127.0.0.1:0")
	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(i.Log.Await(t, "listening", "for=admin"))[1]
	taken := make(chan error)
	go func() {
		reply, err := http.Get("http://" + address + "/debug/pprof/profile?seconds=600")
		if err == nil {
			_, err = io.Copy(io.Discard, reply.Body)
			reply.Body.Close()
		}
		taken <- err
	}()

	isRunning := false
	for !isRunning {
		_, body := get(t, "http://"+address+"/debug/pprof/goroutine?debug=2")
		isRunning = strings.Contains(body, "net/http/pprof.sleep(")
	}
	if err := i.Stop(); err != nil {
		t.Error(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("the profile: %v", err)
	}
}

func TestAdminListenAcceptsLoopbackOnly(t *testing.T) {
	for address, fine := range map[string]bool{
		"127.0.0.1:5051":   true,
		"127.8.8.8:1":      true,
		"[::1]:5051":       true,
		"localhost:5051":   true,
		"":                 true,
		":5051":            false,
		"0.0.0.0:5051":     false,
		"[::]:5051":        false,
		"192.168.1.5:5051": false,
		"erp.example:5051": false,
		"127.0.0.1":        false,
	} {
		_, err := daemontest.Settings([]string{"--data-dir", "x", "--admin-listen=" + address})
		if (err == nil) != fine {
			t.Errorf("the address %q: got the error %v, want one: %t", address, err, !fine)
		}
	}
}
