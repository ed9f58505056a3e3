package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pkcs12 "software.sslmate.com/src/go-pkcs12"
)

// authority is a certificate that signs others.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// sign returns a new certificate of an authority, or a root.
func sign(t *testing.T, by *authority, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	if by == nil {
		by = &authority{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key}
}

// encodings are those that Windows offers at the export of a certificate.
var encodings = map[string]*pkcs12.Encoder{
	"TripleDES-SHA1": pkcs12.LegacyDES,
	"RC2-40":         pkcs12.LegacyRC2, // of earlier versions
	"AES256-SHA256":  pkcs12.Modern2023,
}

// TestPFX loads files with the certificates in an order in which clients would not accept them.
func TestPFX(t *testing.T) {
	root := sign(t, nil, "root")
	middle := sign(t, root, "middle")
	leaf := sign(t, middle, "host")
	const password = "pässword"
	for name, encoder := range encodings {
		t.Run(name, func(t *testing.T) {
			content, err := encoder.Encode(leaf.key, root.certificate,
				[]*x509.Certificate{middle.certificate, leaf.certificate}, password)
			if err != nil {
				t.Fatal(err)
			}
			c := TLSConfig{Cert: filepath.Join(t.TempDir(), "a.PFX"), Password: password}
			write(t, c.Cert, content)
			pair, err := c.Load()
			if err != nil {
				t.Fatal(err)
			}
			if !leaf.key.Equal(pair.PrivateKey) || pair.Leaf == nil || !pair.Leaf.Equal(leaf.certificate) {
				t.Errorf("got the key %v and the certificate %v, want those of host", pair.PrivateKey, pair.Leaf)
			}
			if len(pair.Certificate) != 2 || string(pair.Certificate[1]) != string(middle.certificate.Raw) {
				t.Errorf("got a chain of %d, want the certificate and its issuer", len(pair.Certificate))
			}

			c.Password = "canary"
			wantLoadError(t, c, "tls.password is not the password of "+c.Cert)
		})
	}
}

// TestPFXOfOpenSSL loads files that another program has written.
func TestPFXOfOpenSSL(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	dir := t.TempDir()
	leaf := sign(t, nil, "host")
	key, err := x509.MarshalPKCS8PrivateKey(leaf.key)
	if err != nil {
		t.Fatal(err)
	}
	both := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	block := &pem.Block{Type: "CERTIFICATE", Bytes: leaf.certificate.Raw}
	both = append(both, pem.EncodeToMemory(block)...)
	write(t, filepath.Join(dir, "both.pem"), both)
	for name, options := range map[string]string{
		"TripleDES-SHA1": "-keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1",
		"AES256-SHA256":  "-keypbe AES-256-CBC -certpbe AES-256-CBC -macalg sha256",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name+".p12")
			args := append([]string{"pkcs12", "-export", "-in", "both.pem", "-out", file, "-passout", "pass:secret"},
				strings.Fields(options)...)
			command := exec.Command("openssl", args...)
			command.Dir = dir
			if text, err := command.CombinedOutput(); err != nil {
				t.Fatalf("openssl %q: %v: %s", args, err, text)
			}
			pair, err := TLSConfig{Cert: file, Password: "secret"}.Load()
			if err != nil {
				t.Fatal(err)
			}
			if !pair.Leaf.Equal(leaf.certificate) {
				t.Errorf("got the certificate %v, want that of host", pair.Leaf.Subject)
			}
		})
	}
}

// TestPFXErrors checks that errors name the setting and the file.
func TestPFXErrors(t *testing.T) {
	dir := t.TempDir()
	leaf := sign(t, nil, "host")
	content, err := pkcs12.Modern2023.Encode(leaf.key, sign(t, nil, "other").certificate, nil, "secret")
	if err != nil {
		t.Fatal(err)
	}
	foreign, text := filepath.Join(dir, "foreign.pfx"), filepath.Join(dir, "text.pfx")
	write(t, foreign, content)
	write(t, text, []byte("half a file"))
	missing := filepath.Join(dir, "gone.pfx")
	wantLoadError(t, TLSConfig{Cert: foreign, Password: "secret"},
		"tls.cert: "+foreign+": it has no certificate of its key")
	wantLoadError(t, TLSConfig{Cert: text, Password: "secret"}, "tls.cert: "+text)
	wantLoadError(t, TLSConfig{Cert: missing}, "tls.cert: open "+missing)
}

func wantLoadError(t *testing.T, c TLSConfig, want string) {
	t.Helper()
	_, err := c.Load()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("loading %s: got the error %v, want one with %q", c.Cert, err, want)
	}
	if err != nil && strings.Contains(err.Error(), "canary") {
		t.Errorf("loading %s: the error contains the password: %v", c.Cert, err)
	}
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
