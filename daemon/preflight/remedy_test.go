package preflight

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestRemedies checks that each platform has its own remedies.
func TestRemedies(t *testing.T) {
	for _, r := range []remedy{directoryRemedy, clockRemedy, addressRemedy} {
		windows, linux := r.on("windows"), r.on("linux")
		if windows == "" || linux == "" || windows == linux {
			t.Errorf("remedies %q and %q, want one for each platform", windows, linux)
		}
		if strings.Contains(windows, "sudo") || strings.Contains(windows, "chmod") {
			t.Errorf("%q is not for Windows", windows)
		}
	}
}

// TestDirectoryProblem checks that only a lack of permission has its remedy.
func TestDirectoryProblem(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "dir", Err: fs.ErrPermission}
	if got := directoryProblem(denied); !strings.HasSuffix(got, "; "+directoryRemedy.here()) {
		t.Errorf("%q, want the remedy", got)
	}
	if got := directoryProblem(fmt.Errorf("full")); got != "full" {
		t.Errorf("%q, want only the error", got)
	}
}
