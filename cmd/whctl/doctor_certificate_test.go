package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/whctl/profile"
)

// The check warns if the certificate expires in less than three weeks.
func TestDoctorWarnsOfExpiringCertificate(t *testing.T) {
	const weeks = 3 * 7 * 24 * time.Hour
	end := time.Now().Add(2 * weeks).Truncate(time.Second)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             end.Add(-3 * weeks),
		NotAfter:              end,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{
		Certificate: [][]byte{der},
		PrivateKey:  key,
	}}}
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{
		Type:  "CERTIFICATE",
		Bytes: der,
	}), 0o600); err != nil {
		t.Fatal(err)
	}
	for left, want := range map[time.Duration]string{
		weeks:               `"Result":"ok"`,
		weeks - time.Second: `"Result":"warn"`,
	} {
		got := invocation{now: end.Add(-left), env: map[string]string{profile.EnvURL: server.URL}}.run(t, "--ca-file", file, "doctor", "--json")
		if !strings.Contains(got.stdout, `"Check":"certificate",`+want) {
			t.Errorf("%s left: %s", left, got.stdout)
		}
	}
}
