package daemon_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// nginxHead starts a configuration: one process, with its files in its directory.
const nginxHead = `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr notice;
events {}
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
`

// nginxConf is a typical reverse proxy: it terminates TLS, serves whd below a path, and
// sets the X-Forwarded headers. The plain server has nginx's defaults, which use
// HTTP/1.0 to whd.
const nginxConf = nginxHead + `	client_max_body_size 64k;
	server {
		listen 127.0.0.1:%[1]d ssl;
		ssl_certificate cert.pem;
		ssl_certificate_key key.pem;
		location /erp/ {
			proxy_pass http://%[3]s;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header X-Forwarded-Host $host:$server_port;
		}
	}
	server {
		listen 127.0.0.1:%[2]d;
		location /erp/ {
			proxy_pass http://%[3]s;
			proxy_http_version 1.1;
		}
		location /old/ {
			proxy_pass http://%[3]s/erp/;
		}
		location /slow/ {
			proxy_pass http://%[4]s;
			proxy_read_timeout 50ms;
		}
		location /gone/ {
			proxy_pass http://127.0.0.1:1;
		}
	}
}
`

// behindNginx is a daemon behind a real nginx.
type behindNginx struct {
	t      *testing.T
	i      *daemontest.Instance
	secure string       // address of the proxy with TLS
	plain  string       // address of the proxy without TLS
	http   *http.Client // trusts the proxy's certificate; connects from another address
}

func startBehindNginx(t *testing.T) behindNginx {
	t.Helper()
	program := clientstest.Tool(t, "nginx")
	i := daemontest.Start(t, "--demo", "--http-base-path", "/erp", "--http-trusted-proxies", "127.0.0.1")
	service, _ := url.Parse(i.URL)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never responds
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { silent.Close() })
	dir := t.TempDir()
	trust := daemontest.WritePair(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), time.Now())
	secure, plain := daemontest.FreePort(t), daemontest.FreePort(t)
	conf := filepath.Join(dir, "nginx.conf")
	err = os.WriteFile(conf, fmt.Appendf(nil, nginxConf, secure, plain,
		service.Host, silent.Addr()), 0o600)
	if err != nil {
		t.Fatal(err)
	}

	runNginx(t, exec.Command(program, "-p", dir, "-e", "stderr", "-c", conf))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust.RootCAs},
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return behindNginx{
		t,
		i,
		fmt.Sprintf("https://127.0.0.1:%d", secure),
		fmt.Sprintf("http://127.0.0.1:%d", plain),
		&http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Limits of an nginx. timeout(1) enforces them also for a test that was killed and cannot end it.
const (
	nginxLifetime = "300" // in seconds
	nginxGrace    = "5"   // from SIGTERM until it is killed
)

// runNginx runs nginx until the test ends. nginx listens before it logs that it has
// started.
func runNginx(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	limiter, err := exec.LookPath("timeout")
	if err == nil {
		cmd = exec.Command(limiter, append([]string{"-k", nginxGrace, nginxLifetime}, cmd.Args...)...)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	started := ""
	for !strings.Contains(started, "nginx/") {
		line, err := lines.ReadString('\n')
		started += line
		if err != nil {
			_ = cmd.Wait()
			t.Fatalf("nginx does not start: %s", started)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = cmd.Wait()
	})
}

// send sends a request, written like "GET /path", through the proxy with TLS.
func (b behindNginx) send(line, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.secure+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	reply, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		b.t.Fatalf("%s: %v", line, err)
	}
	return reply, string(text)
}

func (b behindNginx) want(status int, line, body string, headers ...string) *http.Response {
	b.t.Helper()
	reply, text := b.send(line, body, headers...)
	if reply.StatusCode != status {
		b.t.Errorf("%s: status %d, want %d: %.300s", line, reply.StatusCode, status, text)
	}
	return reply
}

func TestBehindNginx(t *testing.T) {
	b := startBehindNginx(t)
	login := `{"UserName":"admin","Password":"` + daemontest.AdminPassword + `"}`
	reply := b.want(200, "POST /erp/auth", login, "Origin: "+b.secure, "Sec-Fetch-Site: same-origin")
	if c := reply.Cookies(); len(c) != 1 || !c[0].Secure || c[0].Path != "/" {
		t.Errorf("cookies %v", c)
	}

	cookie := "Cookie: ss-id=" + reply.Cookies()[0].Value
	b.i.Log.Await(t, "path=/erp/auth ", "address=127.0.0.2")

	for _, page := range []string{"Origin: " + b.secure, "Referer: " + b.secure + "/erp/metadata"} {
		b.want(404, "DELETE /erp/Users/unknown", "", cookie, page)
	}

	for _, page := range []string{
		"Origin: " + b.plain,
		"Origin: http://" + strings.TrimPrefix(b.secure, "https://"),
		"Referer: https://evil.example/",
	} {
		b.want(403, "DELETE /erp/Users/unknown", "", cookie, page)
		b.want(403, "POST /erp/auth", login, page)
	}

	reply = b.want(302, "GET /erp/Queries/DB_Class?Take=1", "", "Accept: text/html")
	const loginPath = "/erp/login?redirect=%2Ferp%2FQueries%2FDB_Class%3FTake%3D1"
	if to := reply.Header.Get("Location"); to != loginPath && to != b.secure+loginPath {
		t.Errorf("redirected to %s, want the login page %s", to, loginPath)
	}

	reply = b.want(201, "POST /erp/ApiKeys", `{"Name":"till","Role":"reader"}`, cookie)
	location, err := reply.Location()
	if err != nil || location.Scheme != "https" || !strings.HasPrefix(location.Path, "/erp/ApiKeys/") {
		t.Errorf("the Location of the key is %v (%v), want an https URL below /erp/ApiKeys", location, err)
	}

	large := strings.Repeat(" ", 65<<10)
	reply = b.want(413, "POST /erp/Queries/DB_Class", large, cookie)
	if server := reply.Header.Get("Server"); !strings.Contains(server, "nginx") {
		t.Errorf("the body was rejected by %q, want the proxy", server)
	}
}

// TestClientBehindNginx uses the Go client through a proxy. nginx drops the trailers that
// mark a streamed response as complete, so the client reports that the export is
// unverified.
func TestClientBehindNginx(t *testing.T) {
	b := startBehindNginx(t)
	kind, _ := record.Builtin().Lookup("SO_Totals")
	through := func(path string) *client.Client {
		c, err := client.New(client.Options{
			URL:      b.plain + path,
			User:     "admin",
			Password: daemontest.AdminPassword,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	few, all := int64(20), client.Query{Kind: kind}
	for _, path := range []string{"/erp", "/old"} {
		page, err := through(path).Page(t.Context(), client.Query{
			Kind: kind,
			Take: &few,
		})
		if err != nil || len(page.Rows) != 20 {
			t.Errorf("%s: a page: %v", path, err)
		}
		n, notes, err := through(path).Download(t.Context(), all, "csv", io.Discard)
		if err != nil || !notes.Unverified || n < 100<<10 {
			t.Errorf("%s: an export: %d bytes, %+v, %v", path, n, notes, err)
		}
	}

	var e *client.Error
	for path, want := range map[string]client.Kind{"/slow": client.TimedOut, "/gone": client.Failed} {
		_, err := through(path).Page(t.Context(), all)
		if !errors.As(err, &e) || e.Kind != want || !strings.Contains(e.Message, "is the address of the service") {
			t.Errorf("%s: got the error %#v, want one of the kind %v about the address", path, err, want)
		}
	}

	_, err := through("/erp").AddUser(t.Context(), wire.UserRequest{UserName: strings.Repeat("x", 65<<10)})
	if !errors.As(err, &e) || e.Status != 413 ||
		!strings.Contains(e.Message, "413 Request Entity Too Large as text/html") {
		t.Errorf("a large body: %v", err)
	}
}

// nginxBothConf is the configuration around the section of the manual about two services.
const nginxBothConf = nginxHead + `	%s
}
`

// startBothBehindNginx starts a substitute for the existing service, and nginx in front of it and
// of a daemon with the configuration of the manual. It returns the address of nginx. Responses of
// the substitute have its name, the request and the length of the body.
func startBothBehindNginx(t *testing.T, service string) (proxy string) {
	t.Helper()
	program := clientstest.Tool(t, "nginx")
	page, err := os.ReadFile(filepath.Join("..", "cmd", "daemon", "docs", "migrate-from-dotnet.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```nginx\n")
	section, _, ok := strings.Cut(after, "```")
	if !ok {
		t.Fatal("the page has no section for nginx")
	}
	existing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "dotnet %s %s %d", r.Method, r.RequestURI, len(body))
	}))
	t.Cleanup(existing.Close)
	port := daemontest.FreePort(t)
	section = strings.NewReplacer(
		"127.0.0.1:5050", strings.TrimPrefix(service, "http://"),
		"127.0.0.1:5051", existing.Listener.Addr().String(),
		"listen 80", fmt.Sprintf("listen 127.0.0.1:%d", port),
	).Replace(section)
	dir := t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxBothConf, section), 0o600); err != nil {
		t.Fatal(err)
	}
	runNginx(t, exec.Command(program, "-p", dir, "-e", "stderr", "-c", conf))
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// TestExistingServiceBehindNginx checks which service gets a request by the rules of the manual:
// whd only those that it serves, and only with credentials that it can know.
func TestExistingServiceBehindNginx(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--http-trusted-proxies", "127.0.0.1")
	proxy := startBothBehindNginx(t, i.URL)
	key, session := "Authorization: Bearer "+i.Key(t, "admin"), "Cookie: ss-id=afnakGlcjKcgb1CQ4fUG"
	send := func(line, body, header string) (status int, text string) {
		t.Helper()
		method, path, _ := strings.Cut(line, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, proxy+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		all, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(all)
	}

	for _, kind := range record.Builtin().Kinds() {
		for _, path := range []string{
			"/json/reply/" + kind.Operation(),
			"/CSV/reply/" + strings.ToLower(kind.Operation()),
			"/jsv/reply//" + kind.Operation() + "/",
		} {
			status, text := send("POST "+path+"?Take=1", "", key)
			if status != 200 || strings.HasPrefix(text, "dotnet ") {
				t.Errorf("POST %s with a key: %d %s, want a response of whd", path, status, text)
			}
			if _, text := send("POST "+path, "", session); text != "dotnet POST "+path+" 0" {
				t.Errorf("POST %s with a session: %s, want a response of the existing service", path, text)
			}
		}
	}

	for _, test := range []struct {
		line, header string
		status       int // of whd; 0: the existing service responds
	}{
		{"GET /Webhooks/Events/", session, 200},
		{"GET /Webhooks/Events.csv", "Accept: */*", 200},
		{"GET /json/reply/WebhooksEventsGETRequest", session, 200},
		{"GET /json/reply/WebhooksSubscribersGETManyRequest", key, 200},
		{"GET /json/reply/WebhooksSubscribersGETManyRequest", session, 401},
		{"POST /json/reply/SO_TotalsQuery[]", key, 400},
		{"PATCH /Bills/a%2Fb/Stages/b%20c/CustomFieldValues/d?Contents=x", key, 404},
		{"PATCH /Bills/a/Stages/b/CustomFieldValues/d", session, 0},
		{"PATCH /json/reply/BillStageCustomFieldValuePATCHRequest", key, 400},
		{"GET /Bills/a/Stages/b", key, 0},
		{"GET /json/reply/DB_MainQuery?Take=1", key, 0},
		{"GET /json/reply/SO_TotalsQueryX", key, 0},
		{"GET /WebhooksX", key, 0},
		{"GET /Debtors/0000000061000000001V", key, 0},
		{"POST /auth", session, 0},
		{"GET /auth/logout", key, 0},
		{"GET /KeepAlive", session, 0},
		{"GET /x?y=/Webhooks/Events", session, 0},
	} {
		status, text := send(test.line, "{}", test.header)
		if test.status == 0 {
			if want := "dotnet " + test.line + " 2"; text != want {
				t.Errorf("%s with %s: %d %s, want %s", test.line, test.header, status, text, want)
			}
			continue
		}
		if status != test.status || strings.HasPrefix(text, "dotnet ") {
			t.Errorf("%s with %s: %d %s, want the status %d of whd", test.line, test.header, status, text, test.status)
		}
	}
}
