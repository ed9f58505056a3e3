package read

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/bizhook/whd/daemon/daemontest"
)

const (
	roleDaemon = "daemon"
	roleFloor  = "floor"
)

// child is one of the servers in a separate process.
type child struct {
	*daemontest.Process
	role    string
	address string
}

// start runs a server on a data directory. Its log is written to a file, as in
// production.
func start(role string, d data) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := daemontest.Program{Path: self, Env: strings.Fields(d.env)}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", d.dir}
	if role == roleFloor {
		program.Env = []string{floorVariable + "=" + d.dir}
		args = nil
	} else if d.server != "" {
		args = append(args, "--store", d.server)
	}
	process, err := program.Start(filepath.Join(d.dir, role+".log"), args...)
	if err != nil {
		return nil, err
	}
	if err := process.Await(); err != nil {
		return nil, errors.Join(err, process.Stop())
	}
	address := strings.TrimPrefix(process.URL, "http://")
	return &child{Process: process, role: role, address: address}, nil
}
