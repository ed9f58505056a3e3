package main

import (
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
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
	var flags []string
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{
		Key:   "-race",
		Value: "true",
	}) {
		flags = append(flags, "-race")
	}
	return daemontest.BuildWhctl(programDir, flags...)
})

// program returns the path of whctl. If coverage is measured, it is the tests' own program, since
// the statements that another one runs do not count.
func program(t testing.TB) (path string) {
	t.Helper()
	if testing.CoverMode() == "" {
		return builtProgram(t)
	}
	path, err := exec.LookPath("whctl") // by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// builtProgram returns the path of whctl. It takes a third of the processor time of the tests' own
// program to start, since that contains the service too, and is started hundreds of times.
func builtProgram(t testing.TB) (path string) {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
