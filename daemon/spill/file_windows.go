package spill

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// createTemporary makes a file that Windows deletes when it is closed. It inherits the
// permissions of its directory.
func createTemporary(dir, pattern string) (*os.File, error) {
	path := filepath.Join(dir, strings.Replace(pattern, "*", rand.Text(), 1))
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}
