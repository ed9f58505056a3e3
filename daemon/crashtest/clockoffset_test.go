package crashtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// clockOffsetVariable is the environment variable with the number of seconds by which a
// program's clock is ahead.
const clockOffsetVariable = "CRASH_CLOCK_AHEAD"

// Patch of the package time: the wall clock reading of time.Now is shifted. The
// monotonic clock is unchanged, as on a host with a wrong clock.
const (
	readingOfNow = "\tsec, nsec, mono := runtimeNow()\n"
	shiftOfNow   = "\tsec += clockAhead\n"
	shiftSource  = `package time

import "syscall"

var clockAhead = func() (ahead int64) {
	text, _ := syscall.Getenv("` + clockOffsetVariable + `")
	sign := int64(1)
	for _, c := range text {
		if c == '-' {
			sign = -1
			continue
		}
		ahead = 10*ahead + int64(c-'0')
	}
	return sign * ahead
}()
`
)

// buildWithShiftedClock rebuilds this test binary from the same sources with a clock
// that can be shifted.
func buildWithShiftedClock(t *testing.T) daemontest.Program {
	t.Helper()
	dir, root := t.TempDir(), goRoot(t)
	source := filepath.Join(root, "src", "time", "time.go")
	text, err := os.ReadFile(source)
	if err != nil || strings.Count(string(text), readingOfNow) != 1 {
		t.Skipf("skipped, since time.Now differs from the version that this test can patch in %s: %v", source, err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		source: write(t, filepath.Join(dir, "time.go"), strings.Replace(string(text), readingOfNow, readingOfNow+shiftOfNow, 1)),
		filepath.Join(root, "src", "time", "ahead.go"): write(t, filepath.Join(dir, "ahead.go"), shiftSource),
	}})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "shifted.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", write(t, filepath.Join(dir, "overlay.json"), string(overlay)), "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -c -overlay: %v\n%s", err, out)
	}
	return daemontest.Program{Path: program}
}

func goRoot(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("skipped, since Go is not installed: %v", err)
	}
	return strings.TrimSpace(string(root))
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// measureOffset returns by how much the clock of a node's daemons is ahead of this
// process's, according to their log.
func (p *node) measureOffset(t *testing.T) time.Duration {
	t.Helper()
	all := p.LogTimes(t, "time=")
	if len(all) == 0 {
		t.Fatal("the log has no time")
	}
	return time.Until(all[0])
}
