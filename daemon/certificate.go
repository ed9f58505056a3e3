package daemon

import (
	"crypto/tls"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/config"
)

// certificate is a TLS certificate in files. It is reloaded when the files change, so a
// renewed certificate needs no restart.
type certificate struct {
	files config.TLSConfig
	log   *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	states []fileState // of the loaded files
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
	if slices.Equal(c.fileStates(), c.states) {
		return false, nil
	}
	return true, c.load()
}

// load loads the pair.
func (c *certificate) load() error {
	states := c.fileStates()
	pair, err := c.files.Load()
	if err != nil {
		return err
	}
	c.pair = &pair
	c.states = states
	return nil
}

// fileStates returns the present states of the files, without those that cannot be read, which
// the loading reports.
func (c *certificate) fileStates() (states []fileState) {
	for _, name := range c.files.Files() {
		info, err := os.Stat(name)
		if err == nil {
			states = append(states, fileState{changed: info.ModTime(), size: info.Size()})
		}
	}
	return states
}
