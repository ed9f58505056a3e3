package daemon

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/config"
)

// certificate is a TLS certificate in a pair of PEM files. It is reloaded when the
// files change, so a renewed certificate needs no restart.
type certificate struct {
	files config.TLSConfig
	log   *slog.Logger

	mu    sync.Mutex
	pair  *tls.Certificate
	state [2]fileState // state of the loaded certificate and key files
}

// fileState identifies one version of a file.
type fileState struct {
	changed time.Time
	size    int64
}

// newCertificate loads a certificate.
func newCertificate(files config.TLSConfig, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log}
	return c, c.load()
}

// get returns the certificate for a connection. If the files cannot be loaded, for
// example while they are being written, it returns the certificate in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.loadIfChanged()
	if err != nil {
		c.log.Warn(certificateNotReloaded, "error", err)
	} else if changed {
		c.log.Info("certificate reloaded", "file", c.files.Cert)
	}
	return c.pair, nil
}

// certificateNotReloaded is logged when the files cannot be loaded.
const certificateNotReloaded = "cannot reload the certificate; the previous one stays in use"

// reopen reloads the pair even if its files look unchanged.
func (c *certificate) reopen() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load()
}

// loadIfChanged loads the pair if its files have changed.
func (c *certificate) loadIfChanged() (changed bool, err error) {
	state, err := c.fileStates()
	if err != nil || state == c.state {
		return false, err
	}
	return true, c.load()
}

// load loads the pair.
func (c *certificate) load() error {
	state, err := c.fileStates()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return err
	}
	c.pair = &pair
	c.state = state
	return nil
}

// fileStates returns the present state of both files.
func (c *certificate) fileStates() ([2]fileState, error) {
	var states [2]fileState
	var errs []error
	for i, name := range []string{c.files.Cert, c.files.Key} {
		info, err := os.Stat(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		states[i] = fileState{changed: info.ModTime(), size: info.Size()}
	}
	return states, errors.Join(errs...)
}
