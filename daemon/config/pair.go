package config

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	pkcs12 "software.sslmate.com/src/go-pkcs12"
)

// TLSConfig has the paths of the files of the certificate: a pair of PEM files, or a PFX file,
// which also has the key. All fields are empty for plain HTTP.
type TLSConfig struct {
	Cert     string
	Key      string // empty with a PFX file
	Password Secret // of the PFX file

	prefix string // of the names of the settings; empty for tls.
}

// setting returns the name of one of the settings.
func (c TLSConfig) setting(name string) string { return cmp.Or(c.prefix, "tls.") + name }

// isPFX reports whether a name is that of a PFX file.
func isPFX(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return extension == ".pfx" || extension == ".p12"
}

// Files returns the names of the files that contain the certificate and its key.
func (c TLSConfig) Files() []string {
	if isPFX(c.Cert) {
		return []string{c.Cert}
	}
	return []string{c.Cert, c.Key}
}

// Load reads the certificate and its key. Errors name the settings.
func (c TLSConfig) Load() (tls.Certificate, error) {
	if !isPFX(c.Cert) {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			err = fmt.Errorf("%s and %s: %w", c.setting("cert"), c.setting("key"), err)
		}
		return pair, err
	}
	content, err := os.ReadFile(c.Cert)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", c.setting("cert"), err)
	}
	pair, err := decodePFX(content, string(c.Password))
	if errors.Is(err, pkcs12.ErrIncorrectPassword) {
		return pair, fmt.Errorf("%s is not the password of %s", c.setting("password"), c.Cert)
	}
	if err != nil {
		err = fmt.Errorf("%s: %s: %w", c.setting("cert"), c.Cert, err)
	}
	return pair, err
}

// decodePFX returns the key in a PFX file with its certificate and those of its issuers. Windows
// writes the certificates in any order.
func decodePFX(content []byte, password string) (tls.Certificate, error) {
	key, first, others, err := pkcs12.DecodeChain(content, password)
	if err != nil {
		return tls.Certificate{}, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return tls.Certificate{}, fmt.Errorf("its key is a %T, which TLS does not support", key)
	}
	certificates := append([]*x509.Certificate{first}, others...)
	leaf := certificateOf(signer, certificates)
	if leaf == nil {
		return tls.Certificate{}, errors.New("it has no certificate of its key")
	}
	pair := tls.Certificate{PrivateKey: signer, Leaf: leaf}
	for c := leaf; c != nil && len(pair.Certificate) < len(certificates); c = issuer(c, certificates) {
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	return pair, nil
}

// certificateOf returns the certificate of a key, or nil.
func certificateOf(key crypto.Signer, certificates []*x509.Certificate) *x509.Certificate {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok {
		return nil
	}
	for _, c := range certificates {
		if public.Equal(c.PublicKey) {
			return c
		}
	}
	return nil
}

// issuer returns the certificate of the issuer of c. It returns nil for a root, which clients
// have anyway, and if the issuer's certificate is missing.
func issuer(c *x509.Certificate, certificates []*x509.Certificate) *x509.Certificate {
	for _, candidate := range certificates {
		isRoot := bytes.Equal(candidate.RawSubject, candidate.RawIssuer)
		if !isRoot && bytes.Equal(candidate.RawSubject, c.RawIssuer) {
			return candidate
		}
	}
	return nil
}
