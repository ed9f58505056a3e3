//go:build unix

package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// Whatever happens to the service during --all: a message, its exit code,
// nothing on standard output and no file, whole or in part.
func TestExportsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		trial
		code int
		say  string
	}{
		"away":     {trial{env: map[string]string{profile.EnvURL: closedAddress(t)}}, 3, "whctl: cannot reach http://127.0.0.1"},
		"slow":     {trial{handler: silent}, 8, "whctl: no answer from http://127.0.0.1"},
		"HTML":     {trial{handler: stranger(200)}, 1, "whctl: unexpected reply 200 OK as text/html; check that"},
		"a page":   {trial{handler: stranger(404)}, 5, "whctl: unexpected reply 404 Not Found as text/html"},
		"cut":      {trial{handler: cutOff}, 7, "whctl: incomplete reply: it broke off after 1 rows"},
		"too few":  {trial{handler: miscounted}, 7, "whctl: incomplete reply: 1 of 2 rows arrived"},
		"refused":  {trial{handler: status(401, "Unauthorized")}, 4, "whctl: Unauthorized: no good"},
		"no rows?": {trial{handler: rows(0)}, 0, "0 rows written to "},
	} {
		for _, format := range append(streaming(), "xlsx") {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				file := filepath.Join(dir, "export."+format)
				limit := "1m"
				if c.code == 8 {
					limit = "100ms" // which it is to reach
				}
				got := c.run(t, "query", "DB_Class", "--all", "--timeout", limit, "--format", format, "-o", file)
				if got.code != c.code || got.stdout != "" || !strings.HasPrefix(got.stderr, c.say) {
					t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
				}
				if left := filesIn(t, dir); (c.code == 0) != (len(left) == 1) {
					t.Errorf("left behind: %q", left)
				}
			})
		}
	}
}

// filesIn are the files of a directory, hidden ones too.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

// A gateway that has lost the service for a moment is asked again for --all, and
// only for that.
func TestAllIsPatient(t *testing.T) {
	asked := 0
	moment := func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			stranger(502)(w, r)
			return
		}
		rows(1, `{"Class":"A"}`)(w, r)
	}
	got := trial{handler: moment}.run(t, "query", "DB_Class", "--all", "--csv")
	if got.code != 0 || got.stdout != "Class\nA\n" || asked != 2 || !strings.HasPrefix(got.stderr, "unexpected reply 502 Bad Gateway as text/html") || !strings.Contains(got.stderr, "; retrying in ") {
		t.Errorf("asked %d times: %+v", asked, got)
	}
	asked = 0
	if got := (trial{handler: moment}).run(t, "query", "DB_Class", "--csv"); got.code != 1 || asked != 1 {
		t.Errorf("without --all, asked %d times: %+v", asked, got)
	}
	asked = 0
	gone := func(w http.ResponseWriter, r *http.Request) {
		asked++
		status(503, "ServiceUnavailable")(w, r)
	}
	if got := (trial{handler: gone}).run(t, "query", "DB_Class", "--all", "--csv", "-q"); got.code != 6 || asked != 1+profile.Retries || got.stdout != "" {
		t.Errorf("asked %d times: %+v", asked, got)
	}
}

// A daemon that dies in the middle of --all, for real.
func TestDaemonThatDies(t *testing.T) {
	dir := t.TempDir()
	for _, format := range []string{"csv", "xlsx", "raw"} {
		daemon, err := daemontest.Launch(dir, "--demo")
		if err != nil {
			t.Fatal(err)
		}
		if err := daemon.Await(); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		cmd := process(t, cutBehind(t, daemon, 20_000), "query", "SO_Totals", "--all", "--format", format, "-o", filepath.Join(to, "totals"))
		cmd.Env = append(cmd.Env, profile.EnvUser+"=admin", profile.EnvPassword+"="+daemontest.AdminPassword)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err = cmd.Run()
		if code := exitOf(t, err); code != 7 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "whctl: incomplete reply: it broke off after ") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", format, code, &stdout, &stderr)
		}
		if left := filesIn(t, to); left != nil {
			t.Errorf("%s: left behind: %q", format, left)
		}
	}
}

// cutBehind leads to a daemon, which is killed once it has sent so many bytes.
// What was on its way then is lost, as where its computer dies with it: that
// would not be certain if the kernel went on to deliver it.
func cutBehind(t *testing.T, daemon *daemontest.Process, bytes int64) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		defer near.Close()
		far, err := net.Dial("tcp", strings.TrimPrefix(daemon.URL, "http://"))
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		go io.Copy(far, near)
		if _, err := io.CopyN(near, far, bytes); err != nil {
			t.Errorf("the reply is too short for this test: %v", err)
		}
		if err := daemon.Kill(); err != nil {
			t.Error(err)
		}
	}()
	return "http://" + listener.Addr().String()
}
