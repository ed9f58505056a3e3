package rest_test

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// TestAbortedCompressedResponseWithTools saves compressed responses with curl and tests them
// with the tool of the coding. curl and the tool must each detect an incomplete
// response.
func TestAbortedCompressedResponseWithTools(t *testing.T) {
	cut, whole := startDamaged(t), demo.start(t)
	for coding, suffix := range map[string]string{"gzip": ".gz", "zstd": ".zst"} {
		t.Run(coding, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "reply"+suffix)
			fetched := saveWithCurl(t, coding, whole.URL+"/csv/reply/IN_ColoursQuery", file)
			if tested := runTool(t, coding, "-t", file); fetched != nil || tested != nil {
				t.Errorf("complete response: curl: %v, %s: %v", fetched, coding, tested)
			}
			fetched = saveWithCurl(t, coding, cut.URL+"/csv/reply/IN_ColoursQuery", file)
			var exit *exec.ExitError
			if tested := runTool(t, coding, "-t", file); !errors.As(fetched, &exit) || !errors.As(tested, &exit) {
				t.Errorf("incomplete response: curl: %v, %s: %v", fetched, coding, tested)
			}
		})
	}
}

// saveWithCurl saves a compressed response without decompressing it.
func saveWithCurl(t *testing.T, coding, url, file string) error {
	t.Helper()
	return runTool(t, "curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--http1.1", "--user", "admin:"+daemontest.AdminPassword,
		"--header", "Accept-Encoding: "+coding, "--output", file, url)
}

// runTool runs a tool. It skips the test if the tool is not installed.
func runTool(t *testing.T, tool string, args ...string) error {
	t.Helper()
	path := clientstest.Tool(t, tool)
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	t.Logf("%s: %v: %s", tool, err, bytes.TrimSpace(out))
	return err
}
