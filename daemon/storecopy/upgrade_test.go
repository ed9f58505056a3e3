package storecopy_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// Numbers of events and messages of the installation. Each event has a message for each of the
// two subscriptions.
const (
	firstEvents     = 2    // published by the daemon before the upgrade
	openMessages    = 5000 // inserted for each subscription, and not yet delivered
	deliveredBefore = 2 * firstEvents
	allMessages     = deliveredBefore + 2*openMessages
	withLast        = allMessages + 2 // with those of the event that is published at the end
)

// receiver records the deliveries of each path, in their order.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	ids     map[string]int // webhook-id -> deliveries
	bodies  map[string][]string
	arrived chan struct{} // buffered
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{
		ids:     make(map[string]int),
		bodies:  make(map[string][]string),
		arrived: make(chan struct{}, 1),
	}
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

// count returns the number of deliveries so far.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.bodies["/ordered"]) + len(r.bodies["/plain"])
}

// await waits until at least want deliveries have arrived.
func (r *receiver) await(t *testing.T, want int) {
	t.Helper()
	expired := time.After(5 * time.Minute)
	for r.count() < want {
		select {
		case <-r.arrived:
		case <-expired:
			t.Fatalf("%d deliveries arrived, want %d", r.count(), want)
		}
	}
}

// installation is the data of daemons on a server.
type installation struct {
	t   *testing.T
	dsn string
	dir string
	*receiver
	key           string              // API key of a publisher
	subscriptions []wire.Subscription // the ordered one, and one without an order
}

// signIn returns a client that is closed at the end of the test.
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

var (
	asAdmin = client.Options{User: "admin", Password: daemontest.AdminPassword}
	asAnn   = client.Options{User: "ann", Password: "a password of ann"}
)

// newInstallation runs a daemon with its store on the server until two events are
// delivered, and then inserts open messages of two partitions.
func newInstallation(t *testing.T) *installation {
	inst := &installation{t: t, dsn: mssqltest.Database(t), dir: t.TempDir(), receiver: newReceiver(t)}
	i := daemontest.StartIn(t, inst.dir,
		"--store", inst.dsn, "--migrate", "--webhooks-allow-targets", "127.0.0.0/8")
	inst.populate(signIn(t, i.URL, asAdmin))
	inst.await(t, deliveredBefore)
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	inst.insertOpen()
	return inst
}

// populate adds a user, a key, two subscriptions and two events.
func (inst *installation) populate(c *client.Client) {
	t := inst.t
	t.Helper()
	ctx := t.Context()
	_, err := c.AddUser(ctx, wire.UserRequest{
		UserName: "Ann",
		Role:     pointer("reader"),
		Password: pointer(asAnn.Password),
	})
	if err != nil {
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
	for n := range firstEvents {
		_, err := c.PublishEventOnce(ctx,
			fmt.Sprint("once ", n), "debtor.updated", fmt.Sprint("first ", n))
		if err != nil {
			t.Fatal(err)
		}
	}
}

func pointer[T any](v T) *T { return &v }

// insertOpen inserts open messages, as of two daemons: those of the ordered subscription
// belong to partition 1, the others to partition 2.
func (inst *installation) insertOpen() {
	const digits = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"
	numbers := fmt.Sprintf(`(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS N
FROM %[1]s a(d) CROSS JOIN %[1]s b(d) CROSS JOIN %[1]s c(d) CROSS JOIN %[1]s e(d)) n`, digits)
	firstEvent := mssqltest.Count(inst.t, inst.dsn, "SELECT Next FROM whd.WH_Number WHERE Name = 'ID'")
	firstMessage := firstEvent + openMessages
	nextID := firstMessage + 2*openMessages
	statements := []string{
		"INSERT INTO whd.WH_Partition (PartitionID, Fence, LeaseUntil) VALUES (2, 7, SYSUTCDATETIME())",
		fmt.Sprintf("UPDATE whd.WH_Number SET Next = %d WHERE Name = 'ID'", nextID),
		fmt.Sprintf(`INSERT INTO whd.WH_Event (EventID, RecID, EventName, AddedDateTime, Body)
SELECT %d + n.N, LOWER(CAST(NEWID() AS nvarchar(36))), 'debtor.updated', SYSUTCDATETIME(), CAST(n.N AS nvarchar(10))
FROM %s WHERE n.N < %d`, firstEvent, numbers, openMessages),
	}
	for i, s := range inst.subscriptions {
		partition := i + 1
		statements = append(statements, fmt.Sprintf(`INSERT INTO whd.SY_WebhookMessage (
	ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT %d + n.N, LOWER(CAST(NEWID() AS nvarchar(36))), %d + n.N, %d, s.ID, s.URL, 0, 0,
	SYSUTCDATETIME(), SYSUTCDATETIME(), SYSUTCDATETIME(), s.MadeByAdmin
FROM %s CROSS JOIN whd.SY_WebhookSubscription s WHERE n.N < %d AND s.RecID = '%s'`,
			firstMessage+int64(i)*openMessages, firstEvent, partition, numbers, openMessages, s.RecID))
	}
	mssqltest.Exec(inst.t, inst.dsn, statements...)
}

// arguments returns the arguments of the daemon after the upgrade.
func (inst *installation) arguments() []string {
	return []string{
		"--erp", inst.dsn, "--store", "sqlite", "--webhooks-allow-targets", "127.0.0.0/8",
	}
}

// copyArguments returns the command line of whd store copy.
func (inst *installation) copyArguments() []string {
	return []string{"store", "copy", "--from", inst.dsn, "--to", "sqlite", "--data-dir", inst.dir}
}

// copy runs whd store copy and expects the exit code and the text.
func (inst *installation) copy(exitCode int, want string, args ...string) string {
	inst.t.Helper()
	var out bytes.Buffer
	args = append(inst.copyArguments(), args...)
	got := whd.Main(whd.Process{Args: args, Stdout: &out, Stderr: &out})
	if got != exitCode || !strings.Contains(out.String(), want) {
		inst.t.Errorf("whd %q: got exit code %d, want %d and %q in\n%s", args, got, exitCode, want, &out)
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
	inst.checkReport(inst.copy(0, "", "--replace", "--format", "json"))
	inst.compare(table)

	i := daemontest.StartIn(t, inst.dir, inst.arguments()...)
	inst.await(t, allMessages)
	inst.accounts(i.URL)
	publisher := signIn(t, i.URL, client.Options{Token: inst.key})
	receipt, err := publisher.PublishEvent(t.Context(), "debtor.updated", "last")
	if err != nil {
		t.Fatalf("publishing after the upgrade: %v", err)
	}
	if receipt.Messages != 2 {
		t.Errorf("publishing after the upgrade: got %d messages, want 2", receipt.Messages)
	}
	inst.await(t, withLast)
	if err := i.Stop(); err != nil { // so that no further deliveries arrive
		t.Fatal(err)
	}
	inst.delivered()
}

// checkReport checks the report of a copy in JSON.
func (inst *installation) checkReport(text string) {
	inst.t.Helper()
	const minTables = 15
	var report struct {
		Dir    string
		Tables []struct{ Table, Source, Copied json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		inst.t.Errorf("the report of the copy: %v in %s", err, text)
	}
	if report.Dir != inst.dir {
		inst.t.Errorf("the report of the copy: got the directory %q, want %q", report.Dir, inst.dir)
	}
	if len(report.Tables) < minTables {
		inst.t.Errorf("the report of the copy: got %d tables, want at least %d: %+v",
			len(report.Tables), minTables, report.Tables)
	}
}

// refused expects that no daemon starts on new files.
func (inst *installation) refused() {
	inst.t.Helper()
	const want = "in the schema whd, from an earlier installation: copy that data with" +
		" whd store copy --from sqlserver://*** --to sqlite," +
		" or start once with whd serve --fresh-store to leave it there"
	dir := inst.t.TempDir()
	_, err := daemontest.Open(dir, inst.arguments()...)
	_, isUsage := errors.AsType[*config.UsageError](err)
	if !isUsage || !strings.HasSuffix(err.Error(), want) {
		inst.t.Fatalf("opening new files: got error %v, want a usage error that ends in %q", err, want)
	}

	args := []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir}
	cmd, err := daemontest.Command(append(args, inst.arguments()...)...)
	if err != nil {
		inst.t.Fatal(err)
	}
	output, _ := cmd.CombinedOutput() // fails if the exit code is not 0
	if got := cmd.ProcessState.ExitCode(); got != 2 {
		inst.t.Errorf("whd serve on new files: got exit code %d, want 2: %s", got, output)
	}
}

// killed kills a copy when it has written some rows.
func (inst *installation) killed() {
	inst.t.Helper()
	const someBytes = 1_000_000 // of the WAL
	cmd, err := daemontest.Command(inst.copyArguments()...)
	if err != nil {
		inst.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		inst.t.Fatal(err)
	}
	hasCopied := func() bool {
		directory := os.DirFS(inst.dir)
		files, err := fs.Glob(directory, ".copy.*.draft/"+appdb.FileName+"-wal")
		if err != nil {
			inst.t.Fatal(err)
		}
		return slices.ContainsFunc(files, func(path string) bool {
			info, err := fs.Stat(directory, path)
			return err == nil && info.Size() > someBytes
		})
	}
	expiry := time.Now().Add(time.Minute)
	for !hasCopied() {
		if time.Now().After(expiry) {
			inst.t.Fatal("the copy has written too little after a minute")
		}
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		inst.t.Error(err)
	}
	_ = cmd.Wait()
	if _, err := os.Stat(filepath.Join(inst.dir, appdb.FileName)); err == nil {
		inst.t.Error("a killed copy has left its file in the data directory")
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
	file, err := appdb.OpenFile(filepath.Join(inst.dir, appdb.FileName))
	if err != nil {
		inst.t.Fatal(err)
	}
	defer file.Close()
	server, err := appdb.OpenSchema(inst.t.Context(), appdb.Config{DSN: inst.dsn})
	if err != nil {
		inst.t.Fatal(err)
	}
	defer server.Close()

	for _, c := range []struct {
		table, id string
		rows      int
	}{
		{"SY_WebhookMessage", "ID", allMessages},
		{"SY_WebhookSubscription", "ID", 2},
		{"SY_WebhookSubscriber", "ID", 1},
		{"WH_Event", "EventID", openMessages + firstEvents},
	} {
		statement := "SELECT " + c.id + ", RecID FROM whd." + c.table + " ORDER BY 1"
		want := idsOf(inst.t, server, statement)
		got := idsOf(inst.t, file, statement)
		if len(got) != c.rows {
			inst.t.Errorf("the copy of %s: got %d rows, want %d", c.table, len(got), c.rows)
		}
		if !slices.Equal(got, want) {
			inst.t.Errorf("the copy of %s: got %d rows that differ from the %d of the server",
				c.table, len(got), len(want))
		}
	}
}

// idsOf returns the IDs and GUIDs that a statement selects, as texts.
func idsOf(t *testing.T, db *appdb.DB, statement string) []string {
	t.Helper()
	scan := func(row appdb.Row) (string, error) {
		var id int64
		var guid string
		err := row.Scan(&id, &guid)
		return fmt.Sprint(id, " ", guid), err
	}
	ids, err := appdb.QueryAll(t.Context(), db, scan, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return ids
}

// accounts expects that users and keys are valid, and that the history was copied.
func (inst *installation) accounts(url string) {
	inst.t.Helper()
	ctx := inst.t.Context()
	for name, login := range map[string]client.Options{
		"admin":   asAdmin,
		"ann":     asAnn,
		"the key": {Token: inst.key},
	} {
		if _, err := signIn(inst.t, url, login).CurrentSession(ctx); err != nil {
			inst.t.Errorf("signing in as %s after the upgrade: %v", name, err)
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
	receipt, err := c.PublishEventOnce(ctx, "once 1", "debtor.updated", "first 1")
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
	if len(inst.ids) != withLast {
		inst.t.Errorf("%d different messages arrived, want %d", len(inst.ids), withLast)
	}
	for id, n := range inst.ids {
		if n != 1 {
			inst.t.Errorf("the message %s arrived %d times, want once", id, n)
		}
	}

	var want []string
	for n := range firstEvents {
		want = append(want, fmt.Sprint("first ", n))
	}
	for n := range openMessages {
		want = append(want, strconv.Itoa(n))
	}
	want = append(want, "last")
	if !slices.Equal(inst.bodies["/ordered"], want) {
		inst.t.Errorf("%d ordered messages arrived, want %d in their order",
			len(inst.bodies["/ordered"]), len(want))
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
	mssqltest.Exec(t, dsn, `INSERT INTO whd.SY_WebhookSubscriber
	(ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash)
VALUES (1, 'a', 'Shop', 1, 1, SYSUTCDATETIME(), 0x01)`)
	return dsn
}

// TestFreshStore starts a daemon with --fresh-store once; later starts do not need it.
func TestFreshStore(t *testing.T) {
	dsn := serverWithSubscriber(t)
	dir := t.TempDir()
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
	restricted := restrictedLogin(t, dsn)
	for _, c := range []struct {
		login, dsn string
		want       []string // parts of the error
	}{
		{"an administrator", dsn, []string{
			"has some in the schema whd", "whd store copy", "--fresh-store",
		}},
		{"a login without rights", restricted, []string{
			"may have some", "no permission", "in the schema whd", "whd store copy",
			"with a login that may read", "--fresh-store",
		}},
	} {
		_, err := daemontest.Open(t.TempDir(), "--erp", c.dsn)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("starting with %s: got error %v, want one with %q", c.login, err, want)
			}
		}
	}

	for _, args := range [][]string{
		{"--fresh-store"},
		{"--store-schema", "other"}, // which does not exist
	} {
		p, err := daemontest.Launch(t.TempDir(), append(args, "--erp", restricted)...)
		if err != nil {
			t.Fatal(err)
		}
		// It must have stopped before the login is dropped.
		if err := errors.Join(p.Await(), p.Stop()); err != nil {
			t.Errorf("starting with %q: %v", args, err)
		}
	}
}

// restrictedLogin creates a login that may only read a table of the ERP, and returns its
// connection string.
func restrictedLogin(t *testing.T, dsn string) string {
	t.Helper()
	const password = "Abcdef12345"
	login := "whd_test_" + strings.ToLower(rand.Text()[:8])
	mssqltest.Exec(t, dsn,
		`CREATE TABLE DB_Class (Class nvarchar(20))`,
		`CREATE LOGIN `+login+` WITH PASSWORD = '`+password+`'`)
	mssqltest.DropLogin(t, login)
	mssqltest.Exec(t, dsn,
		`CREATE USER `+login+` FOR LOGIN `+login,
		`GRANT SELECT ON dbo.DB_Class TO `+login)
	t.Cleanup(func() {
		mssqltest.Exec(t, dsn, `REVOKE SELECT ON dbo.DB_Class FROM `+login, `DROP USER `+login)
	})
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, password)
	return u.String()
}

// TestServerAway starts a daemon on new files while the server is down: it serves, and
// stops once the server responds.
func TestServerAway(t *testing.T) {
	proxy := mssqltest.NewProxy(t, serverWithSubscriber(t))
	dir := t.TempDir()
	proxy.Down()
	p, err := daemontest.Launch(dir, "--erp", proxy.DSN)
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

	proxy.Up()
	expiry := time.Now().Add(time.Minute)
	for !strings.Contains(log(), "whd serve --fresh-store") {
		if time.Now().After(expiry) {
			t.Fatalf("the daemon still serves:\n%s", log())
		}
		time.Sleep(50 * time.Millisecond)
	}
	err = p.Stop()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
		t.Errorf("once the server responds: the daemon ended with %v, want exit code 2", err)
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
		if status != 0 || !strings.Contains(out.String(), "the store is in files") {
			t.Errorf("whd migrate: got exit code %d, want 0 and nothing to migrate: %s", status, &out)
		}
	}
}
