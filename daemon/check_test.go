package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkOf runs whd check on a data directory. It expects the exit status, and a check
// of this name, state and detail in the report.
func checkOf(t *testing.T, dir string, status int, name, state, detail string, args ...string) {
	t.Helper()
	var out, stderr bytes.Buffer
	got := whd.Main(whd.Process{
		Args:   append([]string{"check", "--format", "json", "--data-dir", dir}, args...),
		Stdin:  strings.NewReader(""),
		Stdout: &out,
		Stderr: &stderr,
	})
	var r checkReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || got != status || r.Complete != (status == 0) {
		t.Fatalf("%q: status %d, want %d, %v: %s%s", args, got, status, err, &out, &stderr)
	}
	for _, c := range r.Checks {
		if c.Name == name && c.Status == state && strings.Contains(c.Detail, detail) {
			return
		}
	}
	t.Errorf("%q: no check %q with state %s and detail %q in %+v", args, name, state, detail, r.Checks)
}

// newStore returns a directory with an empty store.
func newStore(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	status := whd.Main(whd.Process{
		Args:   []string{"migrate", "--data-dir", dir},
		Stdout: io.Discard,
		Stderr: t.Output(),
	})
	if status != 0 {
		t.Fatalf("whd migrate: status %d", status)
	}
	return dir
}

// TestCheckChangesNothing checks that whd check neither creates a missing store nor
// migrates an outdated one.
func TestCheckChangesNothing(t *testing.T) {
	parent := t.TempDir()
	for _, dir := range []string{filepath.Join(parent, "mistyped"), parent} {
		checkOf(t, dir, 3, "store", "failed", "there is no store in "+dir+": records.db is missing")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("the check created %v (%v)", left, err)
	}
	dir := newStore(t)
	file := filepath.Join(dir, "whd.db")
	downgrade(t, file)
	checkOf(t, dir, 3, "store", "failed",
		file+" has schema version 6, this whd needs version "+latestVersion(t)+"; make a backup")
	if version, err := backup.Version(t.Context(), file); version != 6 || err != nil {
		t.Errorf("the schema is now version %d, %v", version, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "restore-unfinished"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	checkOf(t, dir, 3, "store", "failed", "was cut short")
}

// statusOfServe returns the status with which whd serve ends at its start, 0 if it serves.
func statusOfServe(t *testing.T, dir string) (status int, stderr string) {
	t.Helper()
	signals := make(chan os.Signal, 1)
	out := &serveLog{listening: func() { signals <- os.Interrupt }}
	status = whd.Main(whd.Process{
		Args:    []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir},
		Stdin:   strings.NewReader(""),
		Stdout:  io.Discard,
		Stderr:  out,
		Signals: signals,
	})
	return status, out.String()
}

// serveLog calls listening once when whd serve has opened its address.
type serveLog struct {
	bytes.Buffer
	listening func()
}

func (l *serveLog) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("msg=listening")) {
		l.listening()
	}
	return l.Buffer.Write(b)
}

// execFile executes statements on a file of a store.
func execFile(t *testing.T, file string, statements ...string) {
	t.Helper()
	conn, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range append(statements, "PRAGMA wal_checkpoint(TRUNCATE)") {
		err = errors.Join(err, conn.Exec(statement))
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

// overwriteTable damages the first page of a table in a file.
func overwriteTable(t *testing.T, file, table string) {
	t.Helper()
	conn, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	page, _, err := conn.QueryInt("SELECT rootpage FROM sqlite_schema WHERE name = ?1", table)
	size, _, sizeErr := conn.QueryInt("PRAGMA page_size")
	if err = errors.Join(err, sizeErr, conn.Exec("PRAGMA wal_checkpoint(TRUNCATE)"), conn.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.WriteAt(bytes.Repeat([]byte{0xa5}, int(size)), (page-1)*size)
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestCheckOfDamagedStore checks that whd check ends as whd serve does if the store is
// damaged.
func TestCheckOfDamagedStore(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, file string){
		"no database": func(t *testing.T, file string) {
			overwrite(t, file,
				strings.Repeat("no database ", 1000))
		},
		"damaged users": func(t *testing.T, file string) { overwriteTable(t, file, "WH_User") },
		"damaged subscriptions": func(t *testing.T, file string) {
			overwriteTable(t, file,
				"SY_WebhookSubscription")
		},
		"damaged versions":         func(t *testing.T, file string) { overwriteTable(t, file, "WH_Migration") },
		"no users":                 func(t *testing.T, file string) { execFile(t, file, "DROP TABLE WH_User") },
		"no sessions":              func(t *testing.T, file string) { execFile(t, file, "DROP TABLE WH_Session") },
		"tables without a version": func(t *testing.T, file string) { execFile(t, file, "DROP TABLE WH_Migration") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newStore(t)
			damage(t, filepath.Join(dir, "whd.db"))
			checkOf(t, dir, 3, "store", "failed", "whd.db")
			if status, stderr := statusOfServe(t, dir); status != 3 {
				t.Errorf("whd serve: status %d, want 3: %s", status, stderr)
			}
		})
	}
}

func overwrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Damage that a start does not meet is found by the check.
func TestCheckFindsHiddenDamage(t *testing.T) {
	for _, damaged := range [][2]string{{"whd.db", "WH_Audit"}, {"records.db", "SO_Totals"}} {
		dir := newStore(t)
		file := filepath.Join(dir, damaged[0])
		overwriteTable(t, file, damaged[1])
		checkOf(t, dir, 3, "store", "failed", file+" is damaged: ")
	}
}

// TestNewerStoreIsRefused checks that no command opens files with a version that this
// program does not know, and that the files do not change.
func TestNewerStoreIsRefused(t *testing.T) {
	for _, newer := range []struct {
		file    string
		version string
		want    string
	}{
		{
			file:    "whd.db",
			version: "99",
			want:    "whd.db has the schema version 99, but this program only knows versions up to " + latestVersion(t),
		},
		// Of the server only.
		{
			file:    "whd.db",
			version: "3",
			want:    "whd.db has the schema version 3, but this program only knows versions up to " + latestVersion(t),
		},
		{
			file:    "requestlog.db",
			version: "4",
			want:    "requestlog.db has the schema version 4, but this program only knows versions up to 3",
		},
	} {
		t.Run(newer.file+" "+newer.version, func(t *testing.T) {
			dir := newStore(t)
			if status, stderr := statusOfServe(t, dir); status != 0 { // creates requestlog.db
				t.Fatalf("whd serve: status %d: %s", status, stderr)
			}
			execFile(t, filepath.Join(dir, newer.file),
				"INSERT INTO WH_Migration (version_id, is_applied) VALUES ("+newer.version+", 1)")
			before := databases(t, dir)

			checkOf(t, dir, 3, "store", "failed", newer.want)
			if status, stderr := statusOfServe(t, dir); status != 3 || !strings.Contains(stderr, newer.want) {
				t.Errorf("whd serve: status %d, want 3 and %q: %s", status, newer.want, stderr)
			}
			for _, command := range []string{"migrate", "demo", "user list"} {
				var stderr bytes.Buffer
				args := append(strings.Fields(command), "--data-dir", dir)
				status := whd.Main(whd.Process{
					Args:   args,
					Stdout: io.Discard,
					Stderr: &stderr,
				})
				if status != 3 || !strings.Contains(stderr.String(), newer.want) {
					t.Errorf("whd %s: status %d, want 3 and %q: %s", command, status, newer.want, &stderr)
				}
			}
			if after := databases(t, dir); !maps.Equal(after, before) {
				t.Errorf("the files of the store have changed")
			}
		})
	}
}

// databases returns the contents of the database files of a store, and of their logs that
// are not empty.
func databases(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*.db*")
	if err != nil {
		t.Fatal(err)
	}
	contents := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 0 && !strings.HasSuffix(file, "-shm") { // readers write to shared memory
			contents[file] = string(text)
		}
	}
	return contents
}

// older sets the schema version of a file of the store to 6.
func downgrade(t *testing.T, file string) {
	t.Helper()
	conn, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec("DELETE FROM WH_Migration WHERE version_id > 6"), conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestCheckReportsProblems(t *testing.T) {
	dir := newStore(t)
	checkOf(t, dir, 0, "data directory", "ok", "free")
	checkOf(t, dir, 0, "store", "ok", "sqlite")
	checkOf(t, dir, 0, "clock", "skipped", "")
	checkOf(t, dir, 0, "certificate", "skipped", "")
	checkOf(t, dir, 0, "targets", "ok", "0 enabled")
	checkOf(t, dir, 0, "webhooks.host_url", "skipped", "")
	checkOf(t, dir, 0, "webhooks.host_url", "warning", "is a loopback address", "--webhooks-host-url",
		"http://localhost:5050")
	checkOf(t, dir, 0, "webhooks.host_url", "skipped", "", "--webhooks-host-url",
		"http://localhost:5050", "--webhooks-enabled=false")
	checkOf(t, dir, 1, "certificate", "failed", "tls.cert", "--tls-cert", "gone", "--tls-key", "gone")
	checkOf(t, dir, 3, "store", "failed", "the store cannot be opened", "--store-file",
		secretFile(t, "sqlserver://sa:canary@127.0.0.1:1?database=erp"))

	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	daemontest.WritePair(t, cert, key, time.Now())
	checkOf(t, dir, 0, "certificate", "ok", "valid until", "--tls-cert", cert, "--tls-key", key)
	file := filepath.Join(dir, "cert.pfx")
	daemontest.WritePFX(t, file, "secret", time.Now())
	checkOf(t, dir, 0, "certificate", "ok", "valid until", "--tls-cert", file,
		"--tls-password-file", secretFile(t, "secret"))
	checkOf(t, dir, 1, "certificate", "failed", "tls.password", "--tls-cert", file,
		"--tls-password-file", secretFile(t, "wrong"))
	if runtime.GOOS != "windows" {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		checkOf(t, dir, 0, "data directory", "warning", "accessible to other users")
	}
}

// TestCheckForecast forecasts the cost of capture in the demo records.
func TestCheckForecast(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "kinds.toml")
	daemontest.Prepare(t, dir, "--demo")
	checkOf(t, dir, 0, "changes", "skipped", "")
	for kinds, want := range map[string][]string{
		"[SO_Totals]\ncapture = \"always\"\n": {
			"0", "ok", "SO_Totals: about ",
		},
		"[IN_Colours]\ncapture = \"asked\"\nignore = [\"Description\"]\n": {
			"0",
			"ok",
			" KiB of shadow, a sweep every 2m0s at changes.share 0.1; without Description: it is in ignore",
		},
		"[V]\nsource = \"INMGT020POQty\"\ncapture = \"asked\"\n[V.fields]\nInventoryID = \"string\"\n": {
			"1",
			"failed",
			"V: it is not captured: no key is proven",
		},
	} {
		if err := os.WriteFile(file, []byte(kinds), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _ := strconv.Atoi(want[0])
		checkOf(t, dir, status, "changes", want[1], want[2], "--erp-kinds", file, "--changes-sweep", "2m")
	}
}

// TestCheckReportsStoppedCapture checks that the capture of a kind is not ok after it has stopped.
func TestCheckReportsStoppedCapture(t *testing.T) {
	dir, kinds := t.TempDir(), filepath.Join(t.TempDir(), "kinds.toml")
	daemontest.Prepare(t, dir, "--demo")
	if err := os.WriteFile(kinds, []byte("[SO_Totals]\ncapture = \"always\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := func(text string) {
		execFile(t, filepath.Join(dir, "whd.db"), "DELETE FROM WH_Capture",
			"INSERT INTO WH_Capture VALUES ('SO_Totals', 1, 1, 1, 0, 1, '"+text+"')")
	}

	state(`{"Phase": "capturing", "Reason": "it lags"}`)
	checkOf(t, dir, 0, "changes", "ok", "SO_Totals: about ", "--erp-kinds", kinds)
	state(`{"Phase": "stopped", "Reason": "two rows have the key 1"}`)
	checkOf(t, dir, 0, "changes", "warning",
		"SO_Totals: it is not captured: the capture has stopped, because two rows have the key 1", "--erp-kinds", kinds)
	state(`{"Phase": "stopped", "Reason": "it reads as empty", "Manual": true}`)
	checkOf(t, dir, 0, "changes", "warning",
		"because it reads as empty; whctl changes resume SO_Totals continues it", "--erp-kinds", kinds)
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCheckTargets checks that unreachable targets are reported.
func TestCheckTargets(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "admin")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	shop, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"http://127.0.0.1:9/a-secret", "http://no-such-name.invalid/a-secret"} {
		_, err := c.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
			URL:       &target,
			EventName: pointer("*"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	checkOf(t, i.Dir, 0, "targets", "warning",
		"of Shop: messages may not be sent there: 127.0.0.1 is a loopback address")
	checkOf(t, i.Dir, 0, "targets", "warning", "of Shop: cannot resolve no-such-name.invalid",
		"--webhooks-allow-targets", "127.0.0.0/8")
}

// TestCheckUnpublishedEvents checks that subscriptions to events that are no longer published are
// reported, as after a restore without the settings.
func TestCheckUnpublishedEvents(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-events", "jobcard.created")
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "admin")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	shop, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"jobcard.*", "webhooks.subscription.disabled", "debtor.*", "*"} {
		request := wire.SubscriptionRequest{URL: pointer("https://shop.example/"), EventName: &pattern}
		_, err = c.AddSubscription(t.Context(), shop.RecID, request)
		if err != nil {
			t.Fatalf("subscribing to %s: %v", pattern, err)
		}
	}
	checkOf(t, newStore(t), 0, "events", "ok", "42 events can be published, 0 of them by changes of records")
	checkOf(t, i.Dir, 0, "events", "warning", "of Shop, to jobcard.*, receives nothing")
}

// TestCheckHostURL checks that whd check sends a request to webhooks.host_url.
func TestCheckHostURL(t *testing.T) {
	here := ""
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, assigned := range all {
		network, ok := assigned.(*net.IPNet)
		if ok && network.IP.IsGlobalUnicast() && network.IP.To4() != nil {
			here = network.IP.String()
		}
	}
	if here == "" {
		t.Skip("this host has no address but the loopback one")
	}
	i := daemontest.Start(t, "--listen", here+":0")
	checkOf(t, i.Dir, 0, "webhooks.host_url", "ok", "responds", "--webhooks-host-url", i.URL)
	other := httptest.NewUnstartedServer(http.NotFoundHandler())
	if other.Listener, err = net.Listen("tcp", here+":0"); err != nil {
		t.Fatal(err)
	}
	other.Start()
	checkOf(t, i.Dir, 0, "webhooks.host_url", "warning",
		"another service responds at "+other.URL+" (status 404)", "--webhooks-host-url", other.URL)
	other.Close()
	checkOf(t, i.Dir, 0, "webhooks.host_url", "warning", "no response: ", "--webhooks-host-url", other.URL)
}

// latestVersion returns the version of the tables of whd.db that this program makes.
func latestVersion(t *testing.T) string {
	t.Helper()
	version, err := appdb.LatestMigration(appdb.FileMigrations)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatInt(version, 10)
}
