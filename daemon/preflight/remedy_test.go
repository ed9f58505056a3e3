package preflight

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestRemedies checks that each platform has its own remedies, and that those of other platforms
// name no commands.
func TestRemedies(t *testing.T) {
	const dir = "/srv/whd data"
	for name, remedy := range map[string]func(platform string) string{
		"directory": func(platform string) string { return directoryRemedy(platform, dir, "erp") },
		"clock":     clockRemedy,
	} {
		windows, linux := remedy("windows"), remedy("linux")
		other := remedy("darwin")
		if windows == linux || windows == other || linux == other {
			t.Errorf("%s: %q, %q and %q, want one for each platform", name, windows, linux, other)
		}
		for _, command := range []string{"sudo", "timedatectl"} {
			if strings.Contains(windows+other, command) {
				t.Errorf("%s: %q or %q names %s of Linux", name, windows, other, command)
			}
		}
	}
	if got := addressRemedy("windows"); !strings.Contains(got, "Get-NetFirewallRule") {
		t.Errorf("address: got %q, want the rule of the firewall", got)
	}
	if got := directoryRemedy("windows", dir, ""); !strings.Contains(got, `icacls "`+dir+`"`) {
		t.Errorf("got %q, want the directory in it", got)
	}
	if got := directoryRemedy("linux", dir, "erp"); !strings.HasSuffix(got, ": sudo -u erp whd check") {
		t.Errorf("got %q, want the owner in it", got)
	}
}

// TestDirectoryProblem checks which errors have a remedy.
func TestDirectoryProblem(t *testing.T) {
	dir := t.TempDir()
	denied := &fs.PathError{Op: "open", Path: dir, Err: fs.ErrPermission}
	missing := &fs.PathError{Op: "stat", Path: dir, Err: fs.ErrNotExist}
	for _, test := range []struct {
		err  error
		want string
	}{
		{denied, denied.Error() + "; run the command "},
		{missing, dir + " does not exist; the first start "},
		{fmt.Errorf("full"), "full"},
	} {
		if got := directoryProblem(dir, test.err); !strings.HasPrefix(got, test.want) {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}
