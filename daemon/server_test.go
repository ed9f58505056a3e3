package daemon_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// onServer is an empty database of a server with the commands that work on it.
type onServer struct {
	t   *testing.T
	dir string
	dsn string
}

func newOnServer(t *testing.T) onServer {
	return onServer{t, t.TempDir(), mssqltest.Database(t)}
}

// do runs a command that must end with the status and say so.
func (o onServer) do(status int, says string, args ...string) {
	o.t.Helper()
	var out bytes.Buffer
	args = append(args, "--data-dir", o.dir)
	got := whd.Main(whd.Process{
		Args: args, Env: []string{"WHD_STORE=" + o.dsn}, Stdin: strings.NewReader("a password of a user\n"), Stdout: &out, Stderr: &out,
	})
	if got != status || !strings.Contains(out.String(), says) {
		o.t.Errorf("whd %s: status %d, %s\nwant status %d, %q", strings.Join(args, " "), got, &out, status, says)
	}
	o.secret(out.String())
}

// secret fails where a text shows the server's password.
func (o onServer) secret(text string) {
	o.t.Helper()
	_, rest, _ := strings.Cut(o.dsn, "://")
	user, _, _ := strings.Cut(rest, "@")
	if _, password, is := strings.Cut(user, ":"); is && strings.Contains(text, password) {
		o.t.Error("the server's password is shown")
	}
}

func (o onServer) answers(request *http.Request, status int, says string) {
	o.t.Helper()
	if got, body := o.ask(request); got != status || !strings.Contains(body, says) {
		o.t.Errorf("%s: status %d, %.300s\nwant %d, %q", request.URL.Path, got, body, status, says)
	}
}

func (o onServer) ask(request *http.Request) (status int, body string) {
	o.t.Helper()
	reply, err := http.DefaultClient.Do(request)
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

// readiness waits until /readyz answers like this: it allows the store little
// time, which a busy machine may not have.
func (o onServer) readiness(i *daemontest.Instance, status int, says string) {
	o.t.Helper()
	for enough := time.Now().Add(time.Minute); ; {
		got, body := o.ask(o.asks("GET", i.URL+"/readyz", ""))
		if got == status && strings.Contains(body, says) {
			return
		}
		if time.Now().After(enough) {
			o.t.Fatalf("/readyz: status %d, %.300s\nwant %d, %q", got, body, status, says)
		}
	}
}

func (o onServer) asks(method, url, body string) *http.Request {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// A daemon that finds its tables behind serves, says so, and goes on by itself
// after they are migrated.
func TestServerThatIsMigratedLater(t *testing.T) {
	o := newOnServer(t)
	o.do(1, "run whd migrate", "user", "list")
	o.do(1, "version 0 of", "check")
	i := daemontest.StartIn(t, o.dir, "--store", o.dsn)
	i.Log.Await(t, "sign-in is not possible yet", "whd migrate")
	login := `{"UserName":"admin","Password":"` + daemontest.AdminPassword + `"}`
	o.readiness(i, 503, "whd migrate")
	o.answers(o.asks("POST", i.URL+"/auth", login), 503, "whd migrate")
	o.answers(o.asks("GET", i.URL+"/healthz", ""), 200, "ok")

	o.do(0, "schema whd: version 0 -> ", "migrate")
	o.do(0, "up to date", "migrate")
	i.Log.Await(t, "now up to date")
	o.readiness(i, 200, "ready")
	o.answers(o.asks("POST", i.URL+"/auth", login), 200, "SessionId")
	o.secret(i.Log.String())
}

// The commands work on a server as they do on the embedded store.
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

	o.do(1, "there is no such table or view", "check")
	o.do(0, " demo records", "demo")
	o.do(1, "the store has records", "demo")
	o.do(0, "14 of 14 kinds are complete", "check")
}

// A daemon that may migrate does, and its first user gets a password.
func TestServerThatMigrates(t *testing.T) {
	o := newOnServer(t)
	i := daemontest.StartIn(t, o.dir, "--store", o.dsn, "--store-schema", "own", "--migrate")
	o.readiness(i, 200, "ready")
	o.do(0, ", up to date", "migrate", "--store-schema", "own")
	request := o.asks("GET", i.URL+"/json/reply/DB_ClassQuery", "")
	request.SetBasicAuth("admin", daemontest.AdminPassword)
	o.answers(request, 503, "DB_Class")
}

func TestServerThatIsAway(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "dsn")
	if err := os.WriteFile(secret, []byte("sqlserver://sa:canary@127.0.0.1:1?database=erp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"user list", "migrate", "check", "demo", "serve --listen 127.0.0.1:0"} {
		var out bytes.Buffer
		status := whd.Main(whd.Process{
			Args: append(strings.Fields(args), "--data-dir", dir, "--store-file", secret), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		})
		if status != 3 || strings.Contains(out.String(), "canary") {
			t.Errorf("whd %s: status %d, %s", args, status, &out)
		}
	}
}
