package daemontest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
)

// BuildWhctl builds whctl in a directory and returns its path. The flags are those of go build.
func BuildWhctl(dir string, flags ...string) (path string, err error) {
	path = filepath.Join(dir, "whctl")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := append([]string{"build", "-o", path}, flags...)
	out, err := exec.Command("go", append(args, "github.com/bizhook/whd/cmd/whctl")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}
