package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
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

// TestDoctorWarnsOfExpiringCertificate checks that there is a warning if the certificate expires in
// less than three weeks.
func TestDoctorWarnsOfExpiringCertificate(t *testing.T) {
	const threeWeeks = 3 * 7 * 24 * time.Hour
	end := time.Now().Add(2 * threeWeeks).Truncate(time.Second)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             end.Add(-3 * threeWeeks),
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
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for remaining, want := range map[time.Duration]string{
		threeWeeks:               `"Result":"ok"`,
		threeWeeks - time.Second: `"Result":"warn"`,
	} {
		inv := invocation{
			now: end.Add(-remaining),
			env: map[string]string{profile.EnvURL: server.URL},
		}
		got := inv.run(t, "--ca-file", file, "doctor", "--json")
		if !strings.Contains(got.stdout, `"Check":"certificate",`+want) {
			t.Errorf("whctl doctor %s before the end of the certificate: got %v; want %s",
				remaining, got, want)
		}
	}
}

// TestDoctorOfUntrustedCertificate checks that a certificate that is not trusted fails one check, and
// not the ones that depend on it.
func TestDoctorOfUntrustedCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that the test lets fail
	server.StartTLS()
	defer server.Close()
	got := invocation{env: map[string]string{profile.EnvURL: server.URL}}.run(t, "doctor", "--json")
	if !strings.Contains(got.stdout, `"Check":"certificate","Result":"fail"`) {
		t.Errorf("got %v, want a failed check of the certificate", got)
	}
	for _, dependent := range []string{"service", "clock", "sign-in"} {
		if strings.Contains(got.stdout, `"Check":"`+dependent+`"`) {
			t.Errorf("got %v, want no check %s", got, dependent)
		}
	}
}
