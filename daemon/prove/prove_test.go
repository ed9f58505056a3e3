package prove_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/prove"
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// report is the output of whd check --prove --format json.
type report struct {
	Complete bool
	Server   string
	Checks   []struct{ Name, Side, Status, Detail string }
}

// details returns the results of a check, as lines of status and detail.
func (r report) details(name string) string {
	var lines []string
	for _, c := range r.Checks {
		if c.Name == name {
			lines = append(lines, c.Status+" "+c.Detail)
		}
	}
	return strings.Join(lines, "\n")
}

// run runs whd in a directory, expects an exit code, and returns the output.
func run(t *testing.T, dir string, want int, env []string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	got := whd.Main(whd.Process{
		Args:   append(args, "--data-dir", dir),
		Env:    env,
		Stdin:  strings.NewReader(""),
		Stdout: &stdout,
		Stderr: &stderr,
	})
	if got != want {
		t.Fatalf("whd %s: exit code %d, want %d: %s%s",
			strings.Join(args, " "), got, want, &stdout, &stderr)
	}
	return stdout.String()
}

// proven runs whd check --prove --format json, and returns the output and the report in it.
func proven(t *testing.T, dir string, exitCode int, env []string, args ...string) (text string, r report) {
	t.Helper()
	text = run(t, dir, exitCode, env, append([]string{"check", "--prove", "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if want := exitCode == 0; r.Complete != want {
		t.Errorf("with the exit code %d: the report has Complete %v, want %v", exitCode, r.Complete, want)
	}
	return text, r
}

// mask matches numbers and durations.
var mask = regexp.MustCompile(`(\d[\d.]*(ms|m|s)?)+`)

// expectGolden compares a report with a file. Numbers are masked.
func expectGolden(t *testing.T, name, text string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), mask.ReplaceAllString(text, "#"))
}

// expectNoData checks that a report contains none of the words, and no text of a demo row.
func expectNoData(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range slices.Concat(words, demoTexts()) {
		if strings.Contains(text, word) {
			t.Errorf("the report contains %q", word)
		}
	}
}

// demoTexts returns the different texts of demo rows, without short ones, which may be in a
// report by chance.
func demoTexts() []string {
	const minLength = 6
	texts := make(map[string]bool)
	for _, kind := range record.Builtin().Kinds() {
		for row := range demo.Rows(kind) {
			for _, v := range row {
				if text, ok := v.(string); ok && len(text) >= minLength {
					texts[text] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(texts))
}

// TestFile checks that nothing is checked without a server, which proves nothing.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	text, _ := proven(t, dir, 1, nil, "--scratch")
	expectGolden(t, "file.json", text)
	expectNoData(t, text, dir)

	const want = "\nn/a   columns                  embedded\n"
	if got := run(t, dir, 1, nil, "check", "--prove"); !strings.Contains(got, want) {
		t.Errorf("whd check --prove: got %s\nwant a line %q", got, want)
	}
	run(t, dir, 2, nil, "check", "--scratch") // requires --prove
}

// TestUnreachable checks that the report is complete if the server cannot be reached.
func TestUnreachable(t *testing.T) {
	address := fmt.Sprintf("127.0.0.1:%d", daemontest.FreePort(t))
	env := []string{"WHD_ERP=sqlserver://reader1:secret1@" + address + "?database=base1"}
	text, r := proven(t, t.TempDir(), 3, env)
	const want = "not checked the server cannot be used"
	if got := r.details("columns"); got != want {
		t.Errorf("the check of columns: got %q, want %q", got, want)
	}
	expectNoData(t, text, address, "secret1", "base1", "reader1")
}

// TestCancelled checks that nothing is checked after the end of the context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := prove.Run(ctx, prove.Options{Store: storeAt("sqlserver://127.0.0.1"), Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	details := map[string]string{"erp": "embedded", "store": "no time left"}
	for _, c := range r.Checks {
		if want := details[c.Side]; c.Status != "not checked" || c.Detail != want {
			t.Errorf("the check %s: got %s %q, want it not checked: %s", c.Name, c.Status, c.Detail, want)
		}
	}
}

// TestServer checks reports on a server with demo records, as a login that may only read
// them, and with views that make checks fail.
func TestServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	dir := t.TempDir()
	run(t, dir, 0, []string{"WHD_ERP=" + dsn}, "demo")
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	secrets := []string{u.Host, u.Hostname(), u.User.Username(), password, u.Query().Get("database")}
	t.Run("report", func(t *testing.T) { checkReport(t, dsn, secrets) })
	t.Run("views", func(t *testing.T) { checkViews(t, dsn, secrets) })
}

// checkReport checks the report of a login that may only read the records, which contains no
// secrets, and that such a login cannot create a scratch schema.
func checkReport(t *testing.T, dsn string, secrets []string) {
	reader, login := readerOf(t, dsn)
	text, r := provenOn(t, reader, nil, prove.Options{
		Store:   storeAt(dsn),
		Scratch: true,
		MaxAge:  time.Hour,
	})
	expectNoData(t, text, append(secrets, login)...)
	if !r.Complete {
		t.Errorf("the report is not complete: %s", text)
	}
	if strings.HasPrefix(r.Server, "Babelfish ") {
		text = collation.ReplaceAllString(text, `"Detail": "a_collation: `)
		text = ended.ReplaceAllString(text, `"Status": "-",`+"\n      "+`"Detail": "-",$1`)
		expectGolden(t, "babelfish.json", text)
	}
	n := mssqltest.Count(t, dsn, `SELECT COUNT(*) FROM sys.schemas WHERE name LIKE 'whd%'`)
	if n != 0 {
		t.Errorf("after the checks: %d schemas are left, want none", n)
	}

	const want = "the login cannot create a schema"
	figure, err := prove.Scratch(t.Context(), prove.Options{Store: storeAt(reader)})
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a scratch schema of a login with only SELECT: got %q (%v), want error %q",
			figure, err, want)
	}
}

// readerOf creates a login that may only read the records, and returns its connection string.
func readerOf(t *testing.T, dsn string) (reader, login string) {
	t.Helper()
	const password = "Abcdef12345"
	login = "whd_test_" + strings.ToLower(rand.Text()[:8])
	mssqltest.Exec(t, dsn,
		"CREATE LOGIN "+login+" WITH PASSWORD = '"+password+"'",
		"CREATE USER "+login+" FOR LOGIN "+login)
	mssqltest.DropLogin(t, login)
	for _, kind := range record.Builtin().Kinds() {
		mssqltest.Exec(t, dsn, "GRANT SELECT ON dbo."+kind.Name+" TO "+login)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, password)
	return u.String(), login
}

// checkViews checks the results for views with values that vary, and with missing columns,
// indexes and other types.
func checkViews(t *testing.T, dsn string, secrets []string) {
	mssqltest.Exec(t, dsn,
		`CREATE VIEW dbo.Flaky AS SELECT RecID, CAST(NEWID() AS nvarchar(36)) AS Description,
CONVERT(nvarchar(30), SYSDATETIME(), 126) AS ColourCode, StyleID, DisplayOrder FROM dbo.IN_Colours`,
		`CREATE VIEW dbo.Narrow AS SELECT Description, LastSavedDateTime FROM dbo.CR_Classification`,
		`CREATE VIEW dbo.Wide AS SELECT CAST(ID AS nvarchar(40)) AS Class FROM (VALUES (1), (2), (3)) v (ID)`,
		`CREATE VIEW dbo.Numbers AS SELECT RecID, 5 AS InventoryID, LogicalID, Available
FROM dbo.IN_ProductAvailability`)
	sources := map[string]string{
		"IN_Colours":             "Flaky",
		"CR_Classification":      "Narrow",
		"DB_Class":               "Wide",
		"IN_ProductAvailability": "Numbers",
		"SY_Filters":             "Nowhere",
	}
	text, r := provenOn(t, dsn, sources, prove.Options{})
	expectNoData(t, text, append(secrets, "Flaky", "Narrow", "Wide", "Numbers")...)
	for name, details := range map[string][]string{
		"columns": {
			"failed CR_Classification: server error ",
			"not checked SY_Filters: no table or view is seen",
		},
		"parameters": {
			"warning IN_ProductAvailability: 1 columns are converted for comparisons: InventoryID (int)",
		},
		"round trip": {
			"not checked IN_Colours: ",
			"Description Equal: differs with each read",
			"not checked IN_ProductAvailability: 8 of ",
			"not checked DB_Class: 4 of 9 statements: Class StartsWith: size, " +
				"Class EndsWith: size, Class Contains: size, Class Like: size",
		},
		"pages": {
			"not checked IN_Colours, IN_ProductAvailability: size: no index starts with RecID",
		},
	} {
		for _, want := range details {
			if got := r.details(name); !strings.Contains(got, want) {
				t.Errorf("the check %s: got %s\nwant %s", name, got, want)
			}
		}
	}
}

// storeAt returns the configuration of own tables on a server.
func storeAt(dsn string) appdb.Config {
	return appdb.Config{
		DSN:         dsn,
		LockTimeout: time.Minute,
		Limits:      func() executor.Limits { return executor.Limits{} },
	}
}

// provenOn runs the checks on a server, without depending on its speed.
func provenOn(t *testing.T, dsn string, sources map[string]string, o prove.Options) (text string, r report) {
	t.Helper()
	records, err := erp.Open(prove.Limited(erp.Config{DSN: dsn, Sources: sources, Registry: record.Builtin()}))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	o.ERP = records
	o.Kinds = record.Builtin().Kinds()
	o.Zone = time.UTC
	o.Slower = 10 * time.Minute
	reported, err := prove.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(reported, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return string(b), r
}

// collation matches the name of the database's collation, which the server's setting decides.
var collation = regexp.MustCompile(`"Detail": "\w+_ci_as: `)

// ended matches the status and the detail of the checks with a result that on Babelfish depends
// on the time at which the server notices the end of a connection.
var ended = regexp.MustCompile(`"Status": "[^"]*",\n +"Detail": "[^"]*",` +
	`(\n +"Side": "erp",\n +"Proves": "a (cancelled )?statement (over its time limit )?ends on the server")`)

// TestKilled checks that a later run drops the scratch schema of a run that was killed,
// once the schema is old enough.
func TestKilled(t *testing.T) {
	dsn := mssqltest.Database(t)
	killProof(t, dsn)
	mssqltest.AwaitSessions(t, dsn, 0)
	mssqltest.Exec(t, dsn, "CREATE SCHEMA whd_prove_old") // not a name of a scratch schema
	if scratchTables(t, dsn) == 0 {
		t.Fatal("the killed run has left no tables")
	}

	for _, c := range []struct {
		maxAge time.Duration
		want   string
	}{
		{time.Hour, "created; 0 of earlier runs dropped"},
		{0, "created; 1 of earlier runs dropped"},
		{0, "created; 0 of earlier runs dropped"},
	} {
		got, err := prove.Scratch(t.Context(), prove.Options{Store: storeAt(dsn), MaxAge: c.maxAge})
		if err != nil || got != c.want {
			t.Errorf("with a maximum age of %v: got %q (%v), want %q", c.maxAge, got, err, c.want)
		}
	}

	if n := scratchTables(t, dsn); n != 0 {
		t.Errorf("after the later runs: %d tables are left, want none", n)
	}
	n := mssqltest.Count(t, dsn, `SELECT COUNT(*) FROM sys.schemas WHERE name LIKE 'whd[_]prove[_]%'`)
	if n != 1 {
		t.Errorf("after the later runs: %d schemas are left, want only that of another name", n)
	}
}

// killProof kills whd check --prove in the middle of the migrations.
func killProof(t *testing.T, dsn string) {
	t.Helper()
	const someTables = 3
	command, err := daemontest.Command("check", "--prove", "--scratch", "--data-dir", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	command.Env = append(command.Env, "WHD_ERP="+dsn, "WHD_STORE="+dsn)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for scratchTables(t, dsn) < someTables {
		select {
		case err := <-ended:
			t.Fatalf("the run ended before it created tables: %v", err)
		default:
		}
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// scratchTables counts the tables in scratch schemas.
func scratchTables(t *testing.T, dsn string) int64 {
	t.Helper()
	return mssqltest.Count(t, dsn,
		`SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA LIKE 'whd[_]prove[_]%'`)
}
