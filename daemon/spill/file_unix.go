//go:build unix

package spill

import (
	"os"

	"github.com/bizhook/whd/daemon/datadir"
)

// createTemporary makes a file that only this process can read, and that ends with it.
func createTemporary(dir, pattern string) (*os.File, error) {
	file, err := datadir.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
