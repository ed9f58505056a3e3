package daemontest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	pkcs12 "software.sslmate.com/src/go-pkcs12"
)

// WritePair writes a certificate for 127.0.0.1 and its key to PEM files with the given
// modification time. It returns the configuration of a client that trusts the
// certificate.
func WritePair(t testing.TB, cert, key string, modified time.Time) *tls.Config {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		key:  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	return trustOf(server)
}

// WritePFX writes a certificate for 127.0.0.1 and its key to a PFX file like WritePair.
func WritePFX(t testing.TB, file, password string, modified time.Time) *tls.Config {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	content, err := pkcs12.Modern2023.Encode(pair.PrivateKey, server.Certificate(), nil, password)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, modified, modified); err != nil {
		t.Fatal(err)
	}
	return trustOf(server)
}

// trustOf returns the configuration of a client that trusts a server's certificate.
func trustOf(server *httptest.Server) *tls.Config {
	return server.Client().Transport.(*http.Transport).TLSClientConfig
}
