package daemon_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/service"
	"go.uber.org/goleak"
)

// noLeaks fails a test that leaks a goroutine. A test calls it first, so that it runs
// after all other clean-ups.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// get sends a request on a new connection.
func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(body)
}

// hold starts a request that stays in flight until finish sends its body. The server
// requests the body (100 Continue) after it has admitted the request.
func hold(t *testing.T, i *daemontest.Instance) (finish func() (*http.Response, error), in *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", i.Daemon.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "POST /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	in = bufio.NewReader(conn)
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := in.ReadString('\n'); line != want {
			t.Fatalf("got the line %q (%v), want %q", line, err, want)
		}
	}
	return func() (*http.Response, error) {
		if _, err := io.WriteString(conn, "{}"); err != nil {
			return nil, err
		}
		return http.ReadResponse(in, nil)
	}, in
}

func TestStopWaitsForRequestsInFlight(t *testing.T) {
	noLeaks(t)
	i := daemontest.Start(t, "--auth-queries", "anonymous")
	finish, _ := hold(t, i)
	stopped := make(chan error)
	go func() { stopped <- i.Stop() }()
	awaitRefusal(t, i)
	select {
	case err := <-stopped:
		t.Fatalf("Stop during a request: %v", err)
	default:
	}

	done, err := finish()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(done.Body)
	if done.StatusCode != 200 || err != nil || !strings.Contains(string(text), `"Results":[]`) || !done.Close {
		t.Errorf("status %d, %v, %s, closes: %v", done.StatusCode, err, text, done.Close)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := i.Stop(); err != nil {
		t.Errorf("the second Stop: %v", err)
	}
}

// awaitRefusal waits until a daemon that is stopping accepts no more connections.
// Connections that exist by then still get normal responses.
func awaitRefusal(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	for {
		conn, err := net.Dial("tcp", i.Daemon.Address().String())
		if err != nil {
			return
		}
		fmt.Fprint(conn, "GET /json/reply/DB_ClassQuery HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && reply.StatusCode != 200 {
			t.Errorf("status %d from a stopping daemon", reply.StatusCode)
		}
		conn.Close()
	}
}

func TestStopAbortsRequestsAfterGracePeriod(t *testing.T) {
	noLeaks(t)
	i := daemontest.Start(t, "--auth-queries", "anonymous")
	_, in := hold(t, i)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := i.Daemon.Stop(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("stop: got the error %v, want context.Canceled", err)
	}
	if !strings.Contains(err.Error(), "stopping http") || strings.Contains(err.Error(), "accounts") {
		t.Errorf("stop: got the error %v, want one about stopping http only", err)
	}
	if _, err := in.ReadByte(); err == nil {
		t.Error("the connection is still open")
	}
	i.Log.Await(t, "msg=request", "path=/json/reply/DB_ClassQuery")
}

func TestStartFailsIfPortIsInUse(t *testing.T) {
	noLeaks(t)
	i := daemontest.Start(t)
	for flag, setting := range map[string]string{
		"--listen":         "listen",
		"--metrics-listen": "metrics.listen",
		"--admin-listen":   "admin.listen",
	} {
		_, err := daemontest.Open(t.TempDir(), flag, i.Daemon.Address().String())
		want := "; the setting " + setting + " selects another address"
		if err == nil || !strings.Contains(err.Error(), "cannot listen") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("a second listener by %s: got the error %v, want one that cannot listen and names %s",
				flag, err, setting)
		}
	}
}

func TestNewRejectsInvalidStore(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, "records.db"),
		[]byte(strings.Repeat("no database ", 1000)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = daemontest.Open(dir)
	if err == nil || !strings.Contains(err.Error(), "the store cannot be opened") {
		t.Errorf("open: got the error %v, want: the store cannot be opened", err)
	}
}

// The separate address is for monitoring only, so its metrics have the names of accounts.
func TestMetricsListen(t *testing.T) {
	noLeaks(t)
	i := daemontest.Start(t, "--metrics-listen", "127.0.0.1:0", "--auth-key-in-url")
	if reply, body := get(t, i.URL+"/Queries/DB_Class?Colour=red&apikey="+i.Key(t, "reader")); reply.StatusCode != 200 {
		t.Fatalf("GET /Queries/DB_Class?Colour=red: status %d, %s", reply.StatusCode, body)
	}
	if reply, body := get(t, i.URL+"/metrics"); reply.StatusCode != 404 || !strings.Contains(body, "NotFound") {
		t.Errorf("status %d, %s", reply.StatusCode, body)
	}
	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(i.Log.Await(t, "listening", "for=metrics"))[1]
	reply, body := get(t, "http://"+address+"/metrics")
	if reply.StatusCode != 200 ||
		!strings.Contains(body, `whd_http_requests_total{operation="Metrics",status="404"} 1`) {
		t.Errorf("status %d, %s", reply.StatusCode, body)
	}
	want := `whd_http_requests_with_ignored_members_total{account="reader `
	if !strings.Contains(body, want) {
		t.Errorf("GET /metrics at metrics.listen returned %s\nwithout %s", body, want)
	}
}

func TestTLS(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	trust := daemontest.WritePair(t, cert, key, time.Now().Add(-time.Hour))
	i := daemontest.Start(t, "--tls-cert", cert, "--tls-key", key)
	transport := &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}
	connect := func() *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", i.URL+"/auth",
			strings.NewReader(`{"UserName":"admin","Password":"`+daemontest.AdminPassword+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		return reply
	}
	reply := connect()
	cookies := reply.Cookies()
	if !strings.HasPrefix(i.URL, "https://") || reply.StatusCode != 200 || len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("%s: status %d, %v", i.URL, reply.StatusCode, cookies)
	}

	// A renewed certificate is used for the next connection.
	daemontest.WritePair(t, cert, key, time.Now().Add(-time.Minute))
	connect()
	i.Log.Await(t, "certificate reloaded")

	// An invalid pair is not used.
	if err := os.WriteFile(key, []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}

	connect()
	i.Log.Await(t, "level=WARN", "the previous one stays in use")
	_, err := daemontest.Open(t.TempDir(), "--tls-cert", cert, "--tls-key", key)
	if err == nil || !strings.Contains(err.Error(), "tls.cert and tls.key") {
		t.Errorf("open: got the error %v, want one about tls.cert and tls.key", err)
	}
}

// TestPFX serves with the certificate in a PFX file, and with that of a file that replaces it.
func TestPFX(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cert.pfx")
	trust := daemontest.WritePFX(t, file, "secret", time.Now().Add(-time.Hour))
	i := daemontest.Start(t, "--tls-cert", file, "--tls-password-file", secretFile(t, "secret"))
	transport := &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}
	connect := func() {
		t.Helper()
		reply, err := (&http.Client{Transport: transport}).Get(i.URL + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
	}
	connect()
	daemontest.WritePFX(t, file, "secret", time.Now().Add(-time.Minute))
	connect()
	i.Log.Await(t, "certificate reloaded")
	daemontest.WritePFX(t, file, "another", time.Now())
	connect()
	i.Log.Await(t, "level=WARN", "the previous one stays in use", "tls.password")
}

// TestHTTPToHTTPS sends plain HTTP to a TLS listener: the response explains the
// mistake, and failed handshakes are logged.
func TestHTTPToHTTPS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	daemontest.WritePair(t, cert, key, time.Now().Add(-time.Hour))
	i := daemontest.Start(t, "--tls-cert", cert, "--tls-key", key)
	reply, body := get(t, "http"+strings.TrimPrefix(i.URL, "https")+"/healthz")
	if reply.StatusCode != 400 || !strings.Contains(body, "HTTPS") {
		t.Errorf("status %d, %q", reply.StatusCode, body)
	}
	i.Log.Await(t, "TLS handshake error")
}

// output receives the daemon's messages to the user; the first is sent when the daemon
// serves.
type output chan string

func (o output) Write(b []byte) (int, error) {
	o <- string(b)
	return len(b), nil
}

// serve runs a daemon without a supervisor until ctx is done.
func serve(ctx context.Context, c config.Config, out io.Writer) error {
	alone, err := service.Find(nil)
	if err != nil {
		return err
	}
	return daemon.Run{Config: c, Out: out, Log: slog.New(slog.DiscardHandler), Supervisor: alone}.Serve(ctx)
}

func TestRun(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	conf, err := daemontest.Settings([]string{"--listen", "127.0.0.1:0", "--data-dir", dir})
	if err != nil {
		t.Fatal(err)
	}
	out := make(output, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- serve(ctx, conf, out) }()
	var greeting string
	select {
	case greeting = <-out:
	case err := <-ended:
		t.Fatal(err)
	}
	url := regexp.MustCompile(`serves (http://\S+)`).FindStringSubmatch(greeting)
	if url == nil {
		t.Fatalf("greeting %q", greeting)
	}
	if reply, body := get(t, url[1]+"/readyz"); reply.StatusCode != 200 || body != "ready\n" {
		t.Errorf("status %d, %s", reply.StatusCode, body)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
