package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
)

// programTests removes the program of built after the tests.
type programTests struct{ *testing.M }

func (m programTests) Run() int {
	code := m.M.Run()
	os.RemoveAll(programDir)
	return code
}

// programDir is the directory of the built program, empty if no test has needed it.
var programDir string

// built builds whctl.
var built = sync.OnceValues(func() (path string, err error) {
	programDir, err = os.MkdirTemp("", "whctl-test")
	if err != nil {
		return "", err
	}
	path = filepath.Join(programDir, "whctl")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := []string{"build", "-o", path}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{
		Key:   "-race",
		Value: "true",
	}) {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// program returns the path of whctl. It takes a third of the processor time of the tests' own
// program to start, since that contains the service too, and is started hundreds of times.
func program(t testing.TB) (path string) {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
