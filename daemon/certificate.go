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

// certificate is a pair of PEM files. They are read again when they change, so
// that a renewed certificate needs no restart.
type certificate struct {
	files config.TLSConfig
	log   *slog.Logger

	mu    sync.Mutex
	pair  *tls.Certificate
	state [2]fileState // of the files that were read last
}

// fileState distinguishes versions of a file.
type fileState struct {
	changed time.Time
	size    int64
}

func newCertificate(files config.TLSConfig, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log}
	_, err := c.read(true)
	return c, err
}

// get is tls.Config's GetCertificate. While the files cannot be used, as in the
// middle of being written, the last good pair serves on.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch changed, err := c.read(false); {
	case err != nil:
		c.log.Warn("the certificate cannot be read again; the last one serves on", "error", err)
	case changed:
		c.log.Info("the certificate was read again", "file", c.files.Cert)
	}
	return c.pair, nil
}

// reopen reads the pair although its files look as before.
func (c *certificate) reopen() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.read(true)
	return err
}

// read reads the pair if its files have changed, or in any case.
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
