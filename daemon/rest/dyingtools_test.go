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

// TestACutCompressedReplyToTools saves compressed replies with curl and lets the
// tools of the coding test them, as whoever keeps exports in files may do. curl
// and the tool must each find what was cut off by itself.
func TestACutCompressedReplyToTools(t *testing.T) {
	cut, whole := startDamaged(t), demo.start(t)
	for coding, suffix := range map[string]string{"gzip": ".gz", "zstd": ".zst"} {
		t.Run(coding, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "reply"+suffix)
			fetched := saveWithCurl(t, coding, whole.URL+"/csv/reply/SO_TotalsQuery", file)
			if tested := runTool(t, coding, "-t", file); fetched != nil || tested != nil {
				t.Errorf("the whole reply: curl: %v, %s: %v", fetched, coding, tested)
			}
			fetched = saveWithCurl(t, coding, cut.URL+"/csv/reply/IN_ColoursQuery", file)
			var exit *exec.ExitError
			if tested := runTool(t, coding, "-t", file); !errors.As(fetched, &exit) || !errors.As(tested, &exit) {
				t.Errorf("the cut reply: curl: %v, %s: %v", fetched, coding, tested)
			}
		})
	}
}

// saveWithCurl keeps a reply as it comes, compressed.
func saveWithCurl(t *testing.T, coding, url, file string) error {
	t.Helper()
	return runTool(t, "curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--http1.1", "--user", "admin:"+daemontest.AdminPassword,
		"--header", "Accept-Encoding: "+coding, "--output", file, url)
}

// runTool runs a tool. Where it is not installed the test is skipped.
func runTool(t *testing.T, tool string, args ...string) error {
	t.Helper()
	path := clientstest.Tool(t, tool)
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	t.Logf("%s: %v: %s", tool, err, bytes.TrimSpace(out))
	return err
}
