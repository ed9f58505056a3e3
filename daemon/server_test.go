package daemon_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// onServer is an empty database on a server, with helpers that run commands on it.
type onServer struct {
	t   *testing.T
	dir string
	dsn string
}

func newOnServer(t *testing.T) onServer {
	return onServer{t, t.TempDir(), mssqltest.Database(t)}
}

// do runs a command and expects the exit status and the text in its output.
func (o onServer) do(status int, want string, args ...string) {
	o.t.Helper()
	var out bytes.Buffer
	args = append(args, "--data-dir", o.dir)
	got := whd.Main(whd.Process{
		Args:   args,
		Env:    []string{"WHD_STORE=" + o.dsn},
		Stdin:  strings.NewReader("a password of a user\n"),
		Stdout: &out,
		Stderr: &out,
	})
	if got != status || !strings.Contains(out.String(), want) {
		o.t.Errorf("whd %s: status %d, %s\nwant status %d, %q", strings.Join(args, " "), got, &out, status, want)
	}
	o.secret(out.String())
}

// secret fails the test if a text contains the server's password.
func (o onServer) secret(text string) {
	o.t.Helper()
	_, login, _ := strings.Cut(o.dsn, "://")
	user, _, _ := strings.Cut(login, "@")
	if _, password, ok := strings.Cut(user, ":"); ok && strings.Contains(text, password) {
		o.t.Error("the output contains the server's password")
	}
}

func (o onServer) expect(r *http.Request, status int, want string) {
	o.t.Helper()
	if got, body := o.send(r); got != status || !strings.Contains(body, want) {
		o.t.Errorf("%s %s: status %d, %.300s\nwant %d, %q", r.Method, r.URL.Path, got, body, status, want)
	}
}

func (o onServer) send(r *http.Request) (status int, body string) {
	o.t.Helper()
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	o.secret(string(text))
	return reply.StatusCode, string(text)
}

// readiness waits until /readyz returns the status and text: its time limit for the
// store is short for a busy machine.
func (o onServer) readiness(i *daemontest.Instance, status int, want string) {
	o.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		got, body := o.send(o.request("GET", i.URL+"/readyz", ""))
		if got == status && strings.Contains(body, want) {
			return
		}
		if time.Now().After(deadline) {
			o.t.Fatalf("/readyz: status %d, %.300s\nwant %d, %q", got, body, status, want)
		}
	}
}

func (o onServer) request(method, url, body string) *http.Request {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// TestServerMigratedLater checks that a daemon with outdated tables serves, reports them,
// and starts delivery and sign-in after the migration.
func TestServerMigratedLater(t *testing.T) {
	o := newOnServer(t)
	o.do(1, "run whd migrate", "user", "list")
	o.do(1, "version 0 of", "check")
	i := daemontest.StartIn(t, o.dir, "--store", o.dsn)
	i.Log.Await(t, "sign-in is not possible yet", "whd migrate")
	login := `{"UserName":"admin","Password":"` + daemontest.AdminPassword + `"}`
	o.readiness(i, 503, "whd migrate")
	o.expect(o.request("POST", i.URL+"/auth", login), 503, "whd migrate")
	o.expect(o.request("GET", i.URL+"/healthz", ""), 200, "ok")

	o.do(0, "schema whd: version 0 -> ", "migrate")
	o.do(0, "up to date", "migrate")
	i.Log.Await(t, "now up to date")
	o.readiness(i, 200, "ready")
	o.expect(o.request("POST", i.URL+"/auth", login), 200, "SessionId")
	o.secret(i.Log.String())
}

// TestServerCommands runs the commands on a server store.
func TestServerCommands(t *testing.T) {
	o := newOnServer(t)
	o.do(0, "schema whd: version 0 -> ", "migrate")
	o.do(0, "", "user", "add", "ann", "--role", "admin", "--password-stdin")
	o.do(1, "A user of this name already exists", "user", "add", "ANN", "--role", "reader", "--password-stdin")
	o.do(1, "last admin", "user", "remove", "ann")
	o.do(0, "ann", "user", "list")
	o.do(0, "whd_", "key", "add", "till", "--role", "reader")
	o.do(0, "never", "key", "list")
	o.do(0, "", "key", "remove", "till")
	o.do(0, "sqlserver://***", "config")

	o.do(1, "no table at all is seen", "check")
	o.do(0, " demo records", "demo")
	o.do(1, "the store has records", "demo")
	n := len(record.Builtin().Kinds())
	o.do(0, fmt.Sprintf("%d of %d kinds are complete", n, n), "check")
}

// TestServeMigrates checks that whd serve --migrate migrates and generates the password
// of the first user.
func TestServeMigrates(t *testing.T) {
	o := newOnServer(t)
	i := daemontest.StartIn(t, o.dir, "--store", o.dsn, "--store-schema", "own", "--migrate")
	o.readiness(i, 200, "ready")
	o.do(0, ", up to date", "migrate", "--store-schema", "own")
	r := o.request("GET", i.URL+"/json/reply/DB_ClassQuery", "")
	r.SetBasicAuth("admin", daemontest.AdminPassword)
	o.expect(r, 404, "DB_ClassQuery is not served")
}

func TestCommandsWithoutServer(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "dsn")
	err := os.WriteFile(secret, []byte("sqlserver://sa:canary@127.0.0.1:1?database=erp\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"user list", "migrate", "check", "demo", "serve --listen 127.0.0.1:0"} {
		var out bytes.Buffer
		status := whd.Main(whd.Process{
			Args:   append(strings.Fields(args), "--data-dir", dir, "--store-file", secret),
			Stdin:  strings.NewReader(""),
			Stdout: &out,
			Stderr: &out,
		})
		if status != 3 || strings.Contains(out.String(), "canary") {
			t.Errorf("whd %s: status %d, %s", args, status, &out)
		}
	}
}
