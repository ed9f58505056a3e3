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

func newCertificate(files config.TLSConfig, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log}
	_, err := c.read(true)
	return c, err
}

// get returns the certificate for a connection. If the files cannot be loaded, for
// example while they are being written, it returns the certificate in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.read(false)
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
	_, err := c.read(true)
	return err
}

// read loads the pair if its files have changed, or always.
func (c *certificate) read(always bool) (changed bool, err error) {
	var state [2]fileState
	for i, name := range []string{c.files.Cert, c.files.Key} {
		info, statErr := os.Stat(name)
		if statErr != nil {
			err = errors.Join(err, statErr)
			continue
		}
		state[i] = fileState{info.ModTime(), info.Size()}
	}
	if err != nil || state == c.state && !always {
		return false, err
	}
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return false, err
	}
	c.pair, c.state = &pair, state
	return true, nil
}
