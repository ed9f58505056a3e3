package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkOf runs whd check on a data directory. It expects the exit status, and a check
// of this name, state and detail in the report.
func checkOf(t *testing.T, dir string, status int, name, state, detail string, args ...string) {
	t.Helper()
	var out, stderr bytes.Buffer
	got := whd.Main(whd.Process{Args: append([]string{"check", "--format", "json", "--data-dir", dir}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr})
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
	if status := whd.Main(whd.Process{Args: []string{"migrate", "--data-dir", dir}, Stdout: io.Discard, Stderr: t.Output()}); status != 0 {
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
	checkOf(t, dir, 3, "store", "failed", file+" has schema version 6, this whd needs version 15; make a backup")
	if version, err := backup.Version(t.Context(), file); version != 6 || err != nil {
		t.Errorf("the schema is now version %d, %v", version, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "restore-unfinished"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	checkOf(t, dir, 3, "store", "failed", "was cut short")
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
	checkOf(t, dir, 0, "webhooks.host_url", "warning", "is a loopback address", "--webhooks-host-url", "http://localhost:5050")
	checkOf(t, dir, 0, "webhooks.host_url", "skipped", "", "--webhooks-host-url", "http://localhost:5050", "--webhooks-enabled=false")
	checkOf(t, dir, 1, "certificate", "failed", "tls.cert", "--tls-cert", "gone", "--tls-key", "gone")
	checkOf(t, dir, 3, "store", "failed", "the store cannot be opened", "--store-file", secretFile(t, "sqlserver://sa:canary@127.0.0.1:1?database=erp"))

	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	daemontest.WritePair(t, cert, key, time.Now())
	checkOf(t, dir, 0, "certificate", "ok", "valid until", "--tls-cert", cert, "--tls-key", key)
	if runtime.GOOS != "windows" {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		checkOf(t, dir, 0, "data directory", "warning", "accessible to other users")
	}
}

// TestCheckForecast forecasts the cost of capture in the demo records.
func TestCheckForecast(t *testing.T) {
	dir, file := newStore(t), filepath.Join(t.TempDir(), "kinds.toml")
	if status := whd.Main(whd.Process{Args: []string{"demo", "--data-dir", dir}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: t.Output()}); status != 0 {
		t.Fatalf("whd demo: status %d", status)
	}
	checkOf(t, dir, 0, "changes", "skipped", "")
	for kinds, want := range map[string][]string{
		"[SO_Totals]\ncapture = \"always\"\n":                                                          {"0", "ok", "SO_Totals: about "},
		"[IN_Colours]\ncapture = \"asked\"\nignore = [\"Description\"]\n":                              {"0", "ok", " MiB per sweep, 0 MiB of shadow, a sweep every 2m0s at changes.share 0.1; without Description: ignore names it"},
		"[V]\nsource = \"INMGT020POQty\"\ncapture = \"asked\"\n[V.fields]\nInventoryID = \"string\"\n": {"1", "failed", "V: it is not captured: no key is proven"},
	} {
		if err := os.WriteFile(file, []byte(kinds), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _ := strconv.Atoi(want[0])
		checkOf(t, dir, status, "changes", want[1], want[2], "--erp-kinds", file, "--changes-sweep", "2m")
	}
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
		if _, err := c.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{URL: &target, EventName: pointer("*")}); err != nil {
			t.Fatal(err)
		}
	}
	checkOf(t, i.Dir, 0, "targets", "warning", "of Shop: messages may not be sent there: 127.0.0.1 is a loopback address")
	checkOf(t, i.Dir, 0, "targets", "warning", "of Shop: cannot resolve no-such-name.invalid", "--webhooks-allow-targets", "127.0.0.0/8")
}

// TestCheckHostURL checks that whd check sends a request to webhooks.host_url.
func TestCheckHostURL(t *testing.T) {
	here := ""
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if network, is := one.(*net.IPNet); is && network.IP.IsGlobalUnicast() && network.IP.To4() != nil {
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
	checkOf(t, i.Dir, 0, "webhooks.host_url", "warning", "another service responds at "+other.URL+" (status 404)", "--webhooks-host-url", other.URL)
	other.Close()
	checkOf(t, i.Dir, 0, "webhooks.host_url", "warning", "no response: ", "--webhooks-host-url", other.URL)
}
