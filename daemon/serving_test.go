package daemon_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// launch runs a daemon in a separate process until the test ends.
func launch(t *testing.T, dir string, args ...string) *daemontest.Process {
	t.Helper()
	p, err := daemontest.Launch(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() }) // fails if it has ended
	if err := p.Await(); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a command of whd and returns its exit status and its standard error.
func run(args ...string) (status int, stderr string) {
	var b bytes.Buffer
	status = whd.Main(whd.Process{
		Args:   args,
		Env:    []string{"WHD_ADMIN_PASSWORD=" + daemontest.AdminPassword},
		Stdin:  new(bytes.Reader),
		Stdout: io.Discard,
		Stderr: &b,
	})
	return status, b.String()
}

// TestSecondDaemon starts a second daemon on a data directory in use: it ends with
// status 3 and names the first, which continues.
func TestSecondDaemon(t *testing.T) {
	dir := t.TempDir()
	first := launch(t, dir, "--webhooks-allow-targets", "127.0.0.0/8")
	for range 2 {
		second, err := daemontest.Launch(dir)
		if err != nil {
			t.Fatal(err)
		}
		if second.Await() == nil {
			t.Errorf("a second daemon serves the same directory (%v)", second.Kill())
			continue
		}
		names := fmt.Sprintf("(pid %d, listening on %s, started ", first.PID(),
			strings.TrimPrefix(first.URL, "http://"))
		if status, log := end(t, second, dir); status != 3 || !strings.Contains(log, names) {
			t.Errorf("the second daemon ended with %d: %s\nwant %s", status, log, names)
		}
	}

	if status, stderr := run("user", "list", "--data-dir", dir); status != 0 {
		t.Errorf("whd user list while the daemon runs: status %d, %s", status, stderr)
	}
	status, stderr := run("restore", "--data-dir", dir, "--force", savedStore(t, dir))
	if status != 3 ||
		!strings.Contains(stderr, fmt.Sprintf("(the last daemon there was pid %d, ", first.PID())) {
		t.Errorf("whd restore while the daemon runs: status %d, %s", status, stderr)
	}
	if reply, body := get(t, first.URL+"/readyz"); reply.StatusCode != http.StatusOK {
		t.Errorf("the first daemon: status %d, %s", reply.StatusCode, body)
	}
	if status := newPublisher(t, first.URL, dir).publish(); status != http.StatusCreated {
		t.Errorf("the first daemon: status %d for an event", status)
	}

	// Files left by a killed daemon do not prevent the next start.
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}

	next := launch(t, dir)
	if reply, body := get(t, next.URL+"/readyz"); reply.StatusCode != http.StatusOK {
		t.Errorf("the next daemon: status %d, %s", reply.StatusCode, body)
	}
}

// end waits for the end of a daemon and returns its status and its log.
func end(t *testing.T, p *daemontest.Process, dir string) (status int, log string) {
	t.Helper()
	if exited, ok := errors.AsType[*exec.ExitError](p.Wait()); ok {
		status = exited.ExitCode()
	}
	text, err := os.ReadFile(filepath.Join(dir, "process.log"))
	if err != nil {
		t.Fatal(err)
	}
	return status, string(text)
}

// savedStore returns the file of a backup of the store in a directory.
func savedStore(t *testing.T, dir string) string {
	t.Helper()
	file := t.TempDir() + "/backup"
	if status, stderr := run("backup", "--data-dir", dir, file); status != 0 {
		t.Fatalf("whd backup: status %d, %s", status, stderr)
	}
	return file
}

// TestLostStore deletes or replaces whd.db while a daemon uses it. The daemon accepts no
// more events and ends with status 3.
func TestLostStore(t *testing.T) {
	remove := func(t *testing.T, path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(t *testing.T, path string) {
		text, err := os.ReadFile(path)
		if err == nil {
			err = errors.Join(os.WriteFile(path+".copy", text, 0o600), os.Rename(path+".copy", path))
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	for name, c := range map[string]struct {
		lose   func(t *testing.T, path string)
		starts bool // the next daemon, without --new-store
	}{"deleted": {remove, false}, "replaced": {replace, true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"--webhooks-allow-targets", "127.0.0.0/8", "--config="}
			d := launch(t, dir, args...)
			p := newPublisher(t, d.URL, dir)
			if status := p.publish(); status != http.StatusCreated {
				t.Fatalf("status %d for an event", status)
			}

			c.lose(t, filepath.Join(dir, "whd.db"))
			if reply, err := http.Get(d.URL + "/readyz"); err == nil { // else it has ended already
				reply.Body.Close()
				if reply.StatusCode != http.StatusServiceUnavailable {
					t.Errorf("/readyz: status %d", reply.StatusCode)
				}
			}

			accepted := 0
			for range 50 {
				if p.publish() == http.StatusCreated {
					accepted++
				}
			}
			if accepted > 0 {
				t.Fatalf("%d of 50 events were accepted after the file was lost", accepted)
			}

			const why = "whd.db was deleted or replaced"
			if status, log := end(t, d, dir); status != 3 || !strings.Contains(log, why) {
				t.Errorf("the daemon ended with %d: %s\nwant %s", status, log, why)
			}

			serve := append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir}, args...)
			if !c.starts {
				status, stderr := run(serve...)
				if status != 3 || !strings.Contains(stderr, "whd.db is missing") ||
					!strings.Contains(stderr, "--new-store") {
					t.Errorf("the next daemon ended with %d: %s", status, stderr)
				}
				args = append(args, "--new-store")
			}

			next := launch(t, dir, args...)
			if reply, body := get(t, next.URL+"/readyz"); reply.StatusCode != http.StatusOK {
				t.Errorf("the next daemon: status %d, %s", reply.StatusCode, body)
			}
		})
	}
}

// publisher publishes events that match one subscription.
type publisher struct {
	t   *testing.T
	url string
	key string
}

// newPublisher adds a subscription and a key to a daemon on a data directory.
func newPublisher(t *testing.T, url, dir string) *publisher {
	t.Helper()
	var key, stderr bytes.Buffer
	status := whd.Main(whd.Process{
		Args:   []string{"key", "add", "test", "--role", "admin", "--data-dir", dir},
		Stdout: &key,
		Stderr: &stderr,
	})
	if status != 0 {
		t.Fatalf("whd key add: %s", &stderr)
	}

	p := &publisher{t, url, strings.TrimSpace(key.String())}
	c, err := client.New(client.Options{URL: url, Token: p.key})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	shop, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(endpoint.Close)
	_, err = c.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
		URL:       &endpoint.URL,
		EventName: pointer("*"),
	})
	if err != nil {
		t.Fatal(err)
	}

	return p
}

// publish publishes one event without retries and returns the status, 0 if there was no
// response.
func (p *publisher) publish() int {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url+"/Webhooks/Events",
		strings.NewReader(`{"EventName":"debtor.updated","Body":"x"}`))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.key)
	r.Header.Set("Content-Type", "application/json")
	r.Close = true
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	reply.Body.Close()
	return reply.StatusCode
}
