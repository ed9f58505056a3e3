package storecopy_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// openMessages is the number of open messages of the installation, for each of its two
// subscriptions.
const openMessages = 5000

// receiver records the deliveries of each path, in their order.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	ids     map[string]int // webhook-id -> deliveries
	bodies  map[string][]string
	arrived chan struct{} // buffered
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{ids: make(map[string]int), bodies: make(map[string][]string), arrived: make(chan struct{}, 1)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ids[request.Header.Get("webhook-id")]++
		r.bodies[request.URL.Path] = append(r.bodies[request.URL.Path], string(body))
		fmt.Fprint(w, "thanks, receiver of ", request.URL.Path, strings.Repeat(".", 200))
		select {
		case r.arrived <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// await waits until so many deliveries have arrived.
func (r *receiver) await(t *testing.T, count int) {
	t.Helper()
	for expired := time.After(5 * time.Minute); ; {
		r.mu.Lock()
		n := len(r.bodies["/ordered"]) + len(r.bodies["/plain"])
		r.mu.Unlock()
		if n >= count {
			return
		}
		select {
		case <-r.arrived:
		case <-expired:
			t.Fatalf("%d deliveries arrived, want %d", n, count)
		}
	}
}

// installation is the data of daemons on a server.
type installation struct {
	t   *testing.T
	dsn string
	dir string
	*receiver
	key           string
	subscriptions []wire.Subscription
}

func signIn(t *testing.T, url string, o client.Options) *client.Client {
	t.Helper()
	o.URL = url
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var asAdmin = client.Options{User: "admin", Password: daemontest.AdminPassword}

// newInstallation runs a daemon with its store on the server until two events are
// delivered, and then inserts open messages of two partitions.
func newInstallation(t *testing.T) *installation {
	inst := &installation{t: t, dsn: mssqltest.Database(t), dir: t.TempDir(), receiver: newReceiver(t)}
	i := daemontest.StartIn(t, inst.dir, "--store", inst.dsn, "--migrate", "--webhooks-allow-targets", "127.0.0.0/8")
	c, ctx := signIn(t, i.URL, asAdmin), t.Context()
	if _, err := c.AddUser(ctx, wire.UserRequest{UserName: "Ann", Role: pointer("reader"), Password: pointer("a password of ann")}); err != nil {
		t.Fatal(err)
	}
	key, err := c.AddAPIKey(ctx, wire.APIKeyRequest{Name: "till", Role: "publisher"})
	if err != nil {
		t.Fatal(err)
	}
	inst.key = key.Key
	shop, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/ordered", "/plain"} {
		s, err := c.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
			URL:       pointer(inst.URL + path),
			EventName: pointer("*"),
			Ordered:   pointer(path == "/ordered"),
			Headers:   &[]wire.Header{{Name: "X-Shop", Value: "ö"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		inst.subscriptions = append(inst.subscriptions, *s)
	}
	for n := range 2 {
		if _, err := c.RaiseEventOnce(ctx, fmt.Sprint("once ", n), "debtor.updated", fmt.Sprint("first ", n)); err != nil {
			t.Fatal(err)
		}
	}
	inst.await(t, 4)
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	inst.insertOpen()
	return inst
}

func pointer[T any](v T) *T { return &v }

// insertOpen inserts open messages, as of two daemons: those of the ordered subscription
// belong to partition 1, the others to partition 2.
func (inst *installation) insertOpen() {
	digits := "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"
	numbers := fmt.Sprintf("(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS N FROM %[1]s a(d) CROSS JOIN %[1]s b(d) CROSS JOIN %[1]s c(d) CROSS JOIN %[1]s e(d)) n", digits)
	first := mssqltest.Count(inst.t, inst.dsn, "SELECT Next FROM whd.WH_Number WHERE Name = 'ID'")
	event, messages := first, first+openMessages
	statements := []string{
		"INSERT INTO whd.WH_Partition (PartitionID, Fence, LeaseUntil) VALUES (2, 7, SYSUTCDATETIME())",
		fmt.Sprintf("UPDATE whd.WH_Number SET Next = %d WHERE Name = 'ID'", messages+2*openMessages),
		fmt.Sprintf(`INSERT INTO whd.WH_Event (EventID, RecID, EventName, AddedDateTime, Body)
SELECT %d + n.N, LOWER(CAST(NEWID() AS nvarchar(36))), 'debtor.updated', SYSUTCDATETIME(), CAST(n.N AS nvarchar(10)) FROM %s WHERE n.N < %d`, event, numbers, openMessages),
	}
	for s := range inst.subscriptions {
		statements = append(statements, fmt.Sprintf(`INSERT INTO whd.SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT %d + n.N, LOWER(CAST(NEWID() AS nvarchar(36))), %d + n.N, %d, s.ID, s.URL, 0, 0, SYSUTCDATETIME(), SYSUTCDATETIME(), SYSUTCDATETIME(), s.MadeByAdmin
FROM %s CROSS JOIN whd.SY_WebhookSubscription s WHERE n.N < %d AND s.RecID = '%s'`,
			messages+int64(s)*openMessages, event, s+1, numbers, openMessages, inst.subscriptions[s].RecID))
	}
	mssqltest.Exec(inst.t, inst.dsn, statements...)
}

// arguments are those of the daemon after the upgrade.
func (inst *installation) arguments() []string {
	return []string{"--erp", inst.dsn, "--store", "sqlite", "--webhooks-allow-targets", "127.0.0.0/8"}
}

// copy runs whd store copy and expects the exit status and the text.
func (inst *installation) copy(status int, want string, args ...string) string {
	inst.t.Helper()
	var out bytes.Buffer
	args = append([]string{"store", "copy", "--from", inst.dsn, "--to", "sqlite", "--data-dir", inst.dir}, args...)
	if got := whd.Main(whd.Process{Args: args, Stdout: &out, Stderr: &out}); got != status || !strings.Contains(out.String(), want) {
		inst.t.Errorf("status %d, %s\nwant %d, %q", got, &out, status, want)
	}
	return out.String()
}

// TestUpgrade moves an installation with open messages from a server to files: the daemon
// refuses to start before, a copy that is killed leaves nothing, and after a copy the
// deliveries continue where they ended.
func TestUpgrade(t *testing.T) {
	inst := newInstallation(t)
	inst.refused()
	inst.killed()
	inst.copy(2, "--to must be sqlite", "--to", "sqlserver")
	table := inst.copy(0, "SY_WebhookMessage ")
	inst.compare(table)
	inst.copy(1, "--replace moves it")
	var report struct {
		Dir    string
		Tables []struct{ Table, Source, Copied json.RawMessage }
	}
	text := inst.copy(0, "", "--replace", "--format", "json")
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Errorf("the report of the copy: %v in %s", err, text)
	}
	if report.Dir != inst.dir {
		t.Errorf("the report of the copy: got the directory %q, want %q", report.Dir, inst.dir)
	}
	if len(report.Tables) < 15 {
		t.Errorf("the report of the copy: got %d tables, want at least 15: %+v",
			len(report.Tables), report.Tables)
	}
	inst.compare(table)

	i := daemontest.StartIn(t, inst.dir, inst.arguments()...)
	inst.await(t, 4+2*openMessages)
	inst.accounts(i.URL)
	publisher := signIn(t, i.URL, client.Options{Token: inst.key})
	receipt, err := publisher.RaiseEvent(t.Context(), "debtor.updated", "last")
	if err != nil {
		t.Fatalf("publishing after the upgrade: %v", err)
	}
	if receipt.Messages != 2 {
		t.Errorf("publishing after the upgrade: got %d messages, want 2", receipt.Messages)
	}
	inst.await(t, 6+2*openMessages)
	if err := i.Stop(); err != nil { // after which nothing is delivered any more
		t.Fatal(err)
	}
	inst.delivered()
}

// refused expects that no daemon starts on new files.
func (inst *installation) refused() {
	inst.t.Helper()
	dir := inst.t.TempDir()
	_, err := daemontest.Open(dir, inst.arguments()...)
	if _, ok := errors.AsType[*config.UsageError](err); !ok || !strings.HasSuffix(err.Error(),
		"in the schema whd, from an earlier installation: copy that data with whd store copy --from sqlserver://*** --to sqlite, or start once with whd serve --fresh-store to leave it there") {
		inst.t.Fatalf("a daemon on new files: %v", err)
	}
	inst.t.Log(err)
	cmd, err := daemontest.Command(append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir}, inst.arguments()...)...)
	if err != nil {
		inst.t.Fatal(err)
	}
	text, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 {
		inst.t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), text)
	}
}

// killed kills a copy when it has written some rows.
func (inst *installation) killed() {
	inst.t.Helper()
	cmd, err := daemontest.Command("store", "copy", "--from", inst.dsn, "--to", "sqlite", "--data-dir", inst.dir)
	if err != nil {
		inst.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		inst.t.Fatal(err)
	}
	copied := func() bool {
		files, err := filepath.Glob(filepath.Join(inst.dir, ".copy.*.draft", appdb.FileName+"-wal"))
		if err != nil {
			inst.t.Fatal(err)
		}
		return slices.ContainsFunc(files, func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Size() > 1_000_000
		})
	}
	for expired := time.Now().Add(time.Minute); !copied(); time.Sleep(time.Millisecond) {
		if time.Now().After(expired) {
			inst.t.Fatal("the copy does not grow")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		inst.t.Error(err)
	}
	_ = cmd.Wait()
	if _, err := os.Stat(filepath.Join(inst.dir, appdb.FileName)); err == nil {
		inst.t.Error("the killed copy is in place")
	}
}

// compare expects that a copy counted all rows, and that messages and subscriptions have
// their IDs and GUIDs.
func (inst *installation) compare(table string) {
	inst.t.Helper()
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] == "TABLE" {
			continue
		}
		if fields[1] != fields[2] {
			inst.t.Errorf("the copy of %s: got %s rows, want %s", fields[0], fields[2], fields[1])
		}
	}
	conn, err := sqlite.Open(filepath.Join(inst.dir, appdb.FileName), sqlite.Options{ReadOnly: true})
	if err != nil {
		inst.t.Fatal(err)
	}
	defer conn.Close()
	server, err := appdb.OpenSchema(inst.t.Context(), appdb.Config{DSN: inst.dsn})
	if err != nil {
		inst.t.Fatal(err)
	}
	defer server.Close()
	for table, rows := range map[string]int{"SY_WebhookMessage": 2*openMessages + 4, "SY_WebhookSubscription": 2, "SY_WebhookSubscriber": 1, "WH_Event": openMessages + 2} {
		id := "ID"
		if table == "WH_Event" {
			id = "EventID"
		}
		want, err := appdb.QueryAll(inst.t.Context(), server, func(row appdb.Row) (text string, err error) {
			var id int64
			err = row.Scan(&id, &text)
			return fmt.Sprint(id, " ", text), err
		}, "SELECT "+id+", RecID FROM whd."+table+" ORDER BY 1")
		if err != nil {
			inst.t.Fatal(err)
		}
		var got []string
		err = conn.Query("SELECT "+id+", RecID FROM "+table+" ORDER BY 1", func(s *sqlite.Stmt) error {
			got = append(got, fmt.Sprint(s.Int(0), " ", s.Text(1)))
			return nil
		})
		if err != nil {
			inst.t.Fatalf("reading the copied rows of %s: %v", table, err)
		}
		if len(got) != rows {
			inst.t.Errorf("the copy of %s: got %d rows, want %d", table, len(got), rows)
		}
		if !slices.Equal(got, want) {
			inst.t.Errorf("the copy of %s: got %d rows that differ from the %d of the server",
				table, len(got), len(want))
		}
	}
}

// accounts expects that users and keys are valid, and that the history was copied.
func (inst *installation) accounts(url string) {
	inst.t.Helper()
	ctx := inst.t.Context()
	for _, o := range []client.Options{asAdmin, {User: "ann", Password: "a password of ann"}, {Token: inst.key}} {
		if _, err := signIn(inst.t, url, o).CurrentSession(ctx); err != nil {
			inst.t.Errorf("%s: %v", o.User, err)
		}
	}
	c := signIn(inst.t, url, asAdmin)
	for _, s := range inst.subscriptions {
		copied, err := c.Subscriptions(ctx, s.SubscriberID)
		if err != nil {
			inst.t.Fatalf("reading the subscriptions after the upgrade: %v", err)
		}
		isCopied := slices.ContainsFunc(copied, func(o wire.Subscription) bool {
			return o.RecID == s.RecID && o.URL == s.URL && bytes.Equal(o.RowHash, s.RowHash)
		})
		if !isCopied {
			inst.t.Errorf("the subscriptions after the upgrade: got %+v, want one like %+v", copied, s)
		}
	}
	receipt, err := c.RaiseEventOnce(ctx, "once 1", "debtor.updated", "first 1")
	if err != nil {
		inst.t.Fatalf("publishing an event of before the upgrade again: %v", err)
	}
	if receipt.Messages != 2 {
		inst.t.Errorf("publishing an event of before the upgrade again: got %d messages, want 2",
			receipt.Messages)
	}
}

// delivered expects that each message arrived once, and in order where that matters.
func (inst *installation) delivered() {
	inst.t.Helper()
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if len(inst.ids) != 6+2*openMessages {
		inst.t.Errorf("%d different messages arrived, want %d", len(inst.ids), 6+2*openMessages)
	}
	for id, n := range inst.ids {
		if n != 1 {
			inst.t.Errorf("%s arrived %d times", id, n)
		}
	}
	want := []string{"first 0", "first 1"}
	for n := range openMessages {
		want = append(want, strconv.Itoa(n))
	}
	want = append(want, "last")
	if !slices.Equal(inst.bodies["/ordered"], want) {
		inst.t.Errorf("%d ordered messages arrived, not in their order", len(inst.bodies["/ordered"]))
	}
	slices.Sort(want)
	slices.Sort(inst.bodies["/plain"])
	if !slices.Equal(inst.bodies["/plain"], want) {
		inst.t.Errorf("%d other messages arrived, want %d", len(inst.bodies["/plain"]), len(want))
	}
}

// serverWithSubscriber returns a database with a subscriber in the schema whd.
func serverWithSubscriber(t *testing.T) (dsn string) {
	t.Helper()
	dsn = mssqltest.Database(t)
	db, err := appdb.Open(t.Context(), appdb.Config{DSN: dsn, Migrate: true})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	mssqltest.Exec(t, dsn, "INSERT INTO whd.SY_WebhookSubscriber (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash) VALUES (1, 'a', 'Shop', 1, 1, SYSUTCDATETIME(), 0x01)")
	return dsn
}

// TestFreshStore starts a daemon with --fresh-store once; later starts do not need it.
func TestFreshStore(t *testing.T) {
	dsn, dir := serverWithSubscriber(t), t.TempDir()
	p, err := daemontest.Launch(dir, "--erp", dsn, "--fresh-store")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Await(), p.Stop()); err != nil {
		t.Fatal(err)
	}
	daemontest.StartIn(t, dir, "--erp", dsn)
}

// TestServerWithoutRights starts a daemon with a login that may not read the schema whd: it
// refuses to start while tables of whd exist there.
func TestServerWithoutRights(t *testing.T) {
	dsn := serverWithSubscriber(t)
	login := "whd_test_" + strings.ToLower(rand.Text()[:8])
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`, `CREATE LOGIN `+login+` WITH PASSWORD = 'Abcdef12345'`)
	mssqltest.DropLogin(t, login)
	mssqltest.Exec(t, dsn, `CREATE USER `+login+` FOR LOGIN `+login, `GRANT SELECT ON dbo.DB_Class TO `+login)
	t.Cleanup(func() { mssqltest.Exec(t, dsn, `REVOKE SELECT ON dbo.DB_Class FROM `+login, `DROP USER `+login) })
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, "Abcdef12345")
	for login, want := range map[string][]string{
		dsn:        {"has some in the schema whd", "whd store copy", "--fresh-store"},
		u.String(): {"may have some", "no permission", "in the schema whd", "whd store copy", "with a login that may read", "--fresh-store"},
	} {
		_, err := daemontest.Open(t.TempDir(), "--erp", login)
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("the daemon started or failed with %v, want %q", err, part)
			}
		}
	}
	start := func(args ...string) {
		t.Helper()
		p, err := daemontest.Launch(t.TempDir(), append(args, "--erp", u.String())...)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.Await(), p.Stop()); err != nil { // before the login is dropped
			t.Error(err)
		}
	}
	start("--fresh-store")
	start("--store-schema", "other") // which does not exist
}

// TestServerAway starts a daemon on new files while the server is down: it serves, and
// stops once the server responds.
func TestServerAway(t *testing.T) {
	line, dir := mssqltest.NewProxy(t, serverWithSubscriber(t)), t.TempDir()
	line.Down()
	p, err := daemontest.Launch(dir, "--erp", line.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Await(); err != nil {
		t.Fatal(err)
	}
	log := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "process.log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if !strings.Contains(log(), "the check is repeated") {
		t.Errorf("no warning in the log:\n%s", log())
	}
	line.Up()
	for expired := time.Now().Add(time.Minute); !strings.Contains(log(), "whd serve --fresh-store"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(expired) {
			t.Fatalf("the daemon still serves:\n%s", log())
		}
	}
	if exited, ok := errors.AsType[*exec.ExitError](p.Stop()); !ok || exited.ExitCode() != 2 {
		t.Errorf("%v, want exit code 2", exited)
	}
}

// TestMigrateFiles checks that whd migrate with a store in files does not connect to the
// server.
func TestMigrateFiles(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		var out bytes.Buffer
		status := whd.Main(whd.Process{
			Args:   []string{"migrate", "--data-dir", dir},
			Env:    []string{"WHD_ERP=sqlserver://whd:x@127.0.0.1:1?database=none"},
			Stdout: &out,
			Stderr: &out,
		})
		if status != 0 || !strings.Contains(out.String(), "nothing to migrate on a server") {
			t.Errorf("status %d, %s", status, &out)
		}
	}
}
