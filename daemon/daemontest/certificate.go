package daemontest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// WritePair writes a certificate of 127.0.0.1 and its key as PEM files, which
// look as if they had been changed last at that time. It returns what a client
// has to trust.
func WritePair(t testing.TB, cert, key string, changed time.Time) *tls.Config {
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
		err = errors.Join(err, os.WriteFile(name, pem.EncodeToMemory(block), 0o600), os.Chtimes(name, changed, changed))
	}
	if err != nil {
		t.Fatal(err)
	}
	return server.Client().Transport.(*http.Transport).TLSClientConfig
}
