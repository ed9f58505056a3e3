package daemon_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// mutualTLSConf is a receiver that requires a client certificate. nginx responds with status 400 to
// a request without one.
const mutualTLSConf = nginxHead + `	server {
		listen 127.0.0.1:%d ssl;
		ssl_certificate cert.pem;
		ssl_certificate_key key.pem;
		ssl_verify_client on;
		ssl_client_certificate client.pem;
		location / {
			return 200;
		}
	}
}
`

// startMutualTLS runs nginx with this configuration in a directory, and returns its address.
func startMutualTLS(t *testing.T, dir string) string {
	t.Helper()
	program := clientstest.Tool(t, "nginx")
	daemontest.WritePair(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), time.Now())
	writeClientPair(t, filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key"))
	port := daemontest.FreePort(t)
	conf := filepath.Join(dir, "nginx.conf")
	err := os.WriteFile(conf, fmt.Appendf(nil, mutualTLSConf, port), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	runNginx(t, exec.Command(program, "-p", dir, "-e", "stderr", "-c", conf))
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// writeClientPair writes a certificate of a client, signed by itself.
func writeClientPair(t *testing.T, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "whd"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		IsCA:                  true,
		BasicConstraintsValid: true,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: signed},
		key:  {Type: "PRIVATE KEY", Bytes: encoded},
	} {
		err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// tunnelTo starts a proxy with a password that opens all tunnels to one receiver, and returns its
// address.
func tunnelTo(t *testing.T, receiver string) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := http.Header{"Authorization": r.Header["Proxy-Authorization"]}
		_, password, _ := (&http.Request{Header: header}).BasicAuth()
		if password != "canary" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		behind, err := net.Dial("tcp", receiver)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer behind.Close()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			_, _ = io.Copy(behind, conn)
			behind.Close()
		}()
		_, _ = io.Copy(conn, behind)
	}))
	t.Cleanup(proxy.Close)
	return proxy.Listener.Addr().String()
}

// TestProxyAndClientCertificate delivers through a proxy to a receiver that requires a client
// certificate, and directly to the same one under another name, which does not get it. whd check
// tries all of it.
func TestProxyAndClientCertificate(t *testing.T) {
	dir := t.TempDir()
	nginx := startMutualTLS(t, dir)
	proxy := tunnelTo(t, nginx)
	settings := []string{
		"--webhooks-proxy", "http://user:canary@" + proxy,
		"--webhooks-proxy-resolves",
		"--webhooks-ca-file", filepath.Join(dir, "cert.pem"),
		"--webhooks-client-cert", filepath.Join(dir, "client.pem"),
		"--webhooks-client-key", filepath.Join(dir, "client.key"),
		"--webhooks-client-cert-hosts", "example.com",
	}
	i, as := startWebhooks(t, append(settings, "--webhooks-retry-schedule", "1h")...)
	admin := as("admin")
	shop, err := admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url    string
		status string // of the message
		code   int
	}{
		{"https://example.com/a-secret", "1", 200},
		// No certificate was sent. The retry of a test would be too late, so that it has failed.
		{"https://" + nginx + "/a-secret", "3", 400},
	} {
		s, err := admin.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
			URL:       &c.url,
			EventName: pointer("debtor.*"),
		})
		if err != nil {
			t.Fatal(err)
		}
		state, err := admin.TestSubscription(t.Context(), shop.RecID, s.RecID)
		if err != nil {
			t.Fatal(err)
		}
		id := url.Values{"MessageID": {state.MessageID}}
		settled(t, admin, shop.RecID, url.Values{"MessageID": {state.MessageID}, "Status": {c.status}})
		page, err := admin.MessageResponses(t.Context(), shop.RecID, id)
		if err != nil {
			t.Fatal(err)
		}
		if code := page.Results[0].HTTPCode; code == nil || *code != c.code {
			t.Errorf("%s: the responses are %+v, want status %d", c.url, page.Results, c.code)
		}
	}

	options := append([]string{"--webhooks-allow-targets", "127.0.0.0/8"}, settings...)
	checkOf(t, i.Dir, 0, "webhooks.proxy", "ok", "http://***@"+proxy+
		" accepts connections; receivers reached through it: 1; directly, by webhooks.no_proxy: 1", options...)
	checkOf(t, i.Dir, 0, "webhooks.ca_file", "ok", "cert.pem", options...)
	checkOf(t, i.Dir, 0, "webhooks.client_cert", "ok", "valid until", options...)
	wrong := append(options, "--webhooks-proxy", "http://user:canary-2@"+proxy)
	checkOf(t, i.Dir, 0, "webhooks.proxy", "warning", "example.com: webhooks.proxy cannot be used: "+proxy+
		" refuses the user name and password: status 407", wrong...)
	checkOf(t, i.Dir, 0, "webhooks.proxy", "ok", "accepts connections; receivers reached through it: 0;", wrong...)
	checkOf(t, filepath.Join(dir, "none"), 3, "webhooks.proxy", "warning", "no receiver was tried", options...)
	away := append(options, "--webhooks-proxy", "http://user:canary@127.0.0.1:1")
	checkOf(t, i.Dir, 1, "webhooks.proxy", "failed", "connection refused", away...)
	none := append(options, "--webhooks-ca-file", filepath.Join(dir, "nginx.conf"))
	checkOf(t, i.Dir, 1, "webhooks.ca_file", "failed", "has no certificate in PEM format", none...)
	without := append(options, "--webhooks-client-key", filepath.Join(dir, "none.key"))
	checkOf(t, i.Dir, 1, "webhooks.client_cert", "failed", "webhooks.client_cert and webhooks.client_key: open ", without...)
	checkOf(t, i.Dir, 1, "webhooks.proxy", "ok", "receivers reached through it: 0;", without...)
}
