package mssql_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestUntrustedCertificate checks that the error for a self-signed certificate, which SQL
// Server has by default, explains how to accept it. The test server has one.
func TestUntrustedCertificate(t *testing.T) {
	dsn := mssqltest.Database(t)
	other := filepath.Join(t.TempDir(), "other.pem")
	if err := os.WriteFile(other, otherCertificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string]url.Values{
		"unknown CA":                    {},
		"another certificate is pinned": {"serverCertificate": {other}},
	} {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		options.Set("encrypt", "true")
		options.Set("database", u.Query().Get("database"))
		u.RawQuery = options.Encode()
		s, err := mssql.Open(mssql.Config{DSN: u.String(), Connections: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Ping(t.Context())
		wantTexts(t, name, err, "serverCertificate=FILE.pem",
			"trustServerCertificate=true accepts every certificate")
		s.Close()
	}
}

// wantTexts expects an error that contains all texts.
func wantTexts(t *testing.T, name string, err error, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, want)
		}
	}
}

// TestMissingCertificateFile checks that the error names the option and the file, and not the
// password.
func TestMissingCertificateFile(t *testing.T) {
	for _, option := range []string{"serverCertificate", "certificate", "SERVERCERTIFICATE"} {
		const password = "canary"
		dsn := "sqlserver://sa:" + password + "@db?database=erp&" + option + "=/missing/erp.pem"
		err := mssql.CheckDSN(dsn)
		wantTexts(t, option, err, strings.ToLower(option), "/missing/erp.pem")
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("%s: the error contains the password: %v", option, err)
		}
	}
}

// otherCertificate returns a certificate in PEM that no server has.
func otherCertificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
