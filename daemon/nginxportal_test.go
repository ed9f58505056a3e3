package daemon_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// nginxBlock matches the blocks for nginx in the manual.
var nginxBlock = regexp.MustCompile("(?s)```nginx\n(.*?)```")

// TestSubscriberIDsBehindNginx checks that nginx, with the lines of the manual, does not log the
// SubscriberID of a link to the pages of a subscriber, neither as the address nor as the referrer.
func TestSubscriberIDsBehindNginx(t *testing.T) {
	program := clientstest.Tool(t, "nginx")
	page, err := os.ReadFile("../cmd/daemon/docs/portal.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := nginxBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 {
		t.Fatalf("the manual has %d blocks for nginx, want 2", len(blocks))
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	access := strings.Replace(blocks[1][1], "/var/log/nginx/whd.log", `"`+log+`"`, 1)
	i := daemontest.Start(t, "--webhooks-portal", "--http-base-path", "/erp", "--http-trusted-proxies", "127.0.0.1")
	service, _ := url.Parse(i.URL)
	port := daemontest.FreePort(t)
	conf := filepath.Join(dir, "nginx.conf")
	head := strings.Replace(nginxHead, "	access_log off;\n", "", 1)
	text := fmt.Sprintf("%s%s\nserver {\nlisten 127.0.0.1:%d;\n%s\nlocation /erp/ { proxy_pass http://%s; proxy_set_header Host $http_host; }\n}\n}\n",
		head, blocks[0][1], port, access, service.Host)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runNginx(t, exec.Command(program, "-p", dir, "-e", "stderr", "-c", conf))

	const id = "1b4e28ba-2fa1-11d2-883f-c0ffee000001"
	proxy := fmt.Sprintf("http://127.0.0.1:%d", port)
	paths := []string{
		"/erp/Webhooks/Portal/Open?SubscriberID=" + id,
		"/erp/webhooks//portal/open/?Subscriber%49D=" + id,
		"/erp/Webhooks/Portal?SubscriberID=" + id,
		"/erp/Webhooks/Events?Take=1",
	}
	for _, path := range paths {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Referer", proxy+path)
		reply, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode >= 500 {
			t.Errorf("%s: status %d", path, reply.StatusCode)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	var lines string
	for end := time.Now().Add(10 * time.Second); strings.Count(lines, "\n") < len(paths); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log has %q, want %d lines", lines, len(paths))
		}
		content, _ := os.ReadFile(log) // nginx creates it
		lines = string(content)
	}
	if strings.Contains(lines, id) || strings.Contains(lines, id[9:]) {
		t.Errorf("the log has the SubscriberID:\n%s", lines)
	}
	for _, want := range []string{
		`"GET /erp/Webhooks/Portal/Open" 400`,
		`"` + proxy + `/erp/Webhooks/Portal/Open"`,
		`"GET /erp/Webhooks/Events?Take=1" 200`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("the log lacks %s:\n%s", want, lines)
		}
	}
}
