package prove_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
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

// run runs whd in a directory and returns its output.
func run(t *testing.T, dir string, status int, env []string, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	if got := whd.Main(whd.Process{Args: append(args, "--data-dir", dir), Env: env, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr}); got != status {
		t.Fatalf("whd %s: status %d, want %d: %s%s", strings.Join(args, " "), got, status, &out, &stderr)
	}
	return out.String()
}

// proven runs whd check --prove --format json.
func proven(t *testing.T, dir string, status int, env []string, args ...string) (text string, r report) {
	t.Helper()
	text = run(t, dir, status, env, append([]string{"check", "--prove", "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Complete != (status == 0) {
		t.Errorf("complete: %v", r.Complete)
	}
	return text, r
}

var mask = regexp.MustCompile(`(\d[\d.]*(ms|m|s)?)+`)

// expectGolden compares a report with a file. Numbers are masked.
func expectGolden(t *testing.T, name, text string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), mask.ReplaceAllString(text, "#"))
}

// expectNoData checks that a report contains none of the words, and no text of a demo row.
func expectNoData(t *testing.T, text string, words ...string) {
	t.Helper()
	const shortest = 6
	for _, kind := range record.Builtin().Kinds() {
		for row := range demo.Rows(kind) {
			for _, v := range row {
				if s, ok := v.(string); ok && len(s) >= shortest {
					words = append(words, s)
				}
			}
		}
	}
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		if strings.Contains(text, word) {
			t.Errorf("the report contains %q", word)
		}
	}
}

// TestFile checks that nothing is checked without a server, which proves nothing.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	text, _ := proven(t, dir, 1, nil, "--scratch")
	expectGolden(t, "file.json", text)
	expectNoData(t, text, dir)

	if got := run(t, dir, 1, nil, "check", "--prove"); !strings.Contains(got, "\nn/a   columns                  embedded\n") {
		t.Errorf("got %s", got)
	}
	run(t, dir, 2, nil, "check", "--scratch")
}

// TestUnreachable checks that the report is complete if the server cannot be reached.
func TestUnreachable(t *testing.T) {
	address := fmt.Sprintf("127.0.0.1:%d", daemontest.FreePort(t))
	text, r := proven(t, t.TempDir(), 3, []string{"WHD_ERP=sqlserver://reader1:secret1@" + address + "?database=base1"})
	if got := r.details("columns"); got != "not checked the server cannot be used" {
		t.Errorf("got %s", got)
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
			t.Errorf("%+v, want %s", c, want)
		}
	}
}

func TestServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	dir := t.TempDir()
	run(t, dir, 0, []string{"WHD_ERP=" + dsn}, "demo")
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	names := []string{u.Host, u.Hostname(), u.User.Username(), password, u.Query().Get("database")}
	t.Run("report", func(t *testing.T) {
		login := "whd_test_" + strings.ToLower(rand.Text()[:8])
		mssqltest.Exec(t, dsn, "CREATE LOGIN "+login+" WITH PASSWORD = 'Abcdef12345'", "CREATE USER "+login+" FOR LOGIN "+login)
		mssqltest.DropLogin(t, login)
		for _, kind := range record.Builtin().Kinds() {
			mssqltest.Exec(t, dsn, "GRANT SELECT ON dbo."+kind.Name+" TO "+login)
		}
		reader := *u
		reader.User = url.UserPassword(login, "Abcdef12345")
		text, r := provenOn(t, reader.String(), nil, prove.Options{Store: storeAt(dsn), Scratch: true, MaxAge: time.Hour})
		expectNoData(t, text, append(names, login)...)
		if !r.Complete {
			t.Errorf("a check failed: %s", text)
		}
		if strings.HasPrefix(r.Server, "Babelfish ") {
			text = collation.ReplaceAllString(text, `"Detail": "a_collation: `)
			expectGolden(t, "babelfish.json", ended.ReplaceAllString(text, `"Status": "-",`+"\n      "+`"Detail": "-",$1`))
		}
		if n := mssqltest.Count(t, dsn, `SELECT COUNT(*) FROM sys.schemas WHERE name LIKE 'whd%'`); n != 0 {
			t.Errorf("%d schemas are left", n)
		}
		if figure, err := prove.Scratch(t.Context(), prove.Options{Store: storeAt(reader.String())}); err == nil || !strings.HasPrefix(err.Error(), "the login cannot create a schema") {
			t.Errorf("a login with only SELECT: %s (%v)", figure, err)
		}
	})
	t.Run("views", func(t *testing.T) {
		mssqltest.Exec(t, dsn,
			"CREATE VIEW dbo.Flaky AS SELECT RecID, CAST(NEWID() AS nvarchar(36)) AS Description, CONVERT(nvarchar(30), SYSDATETIME(), 126) AS ColourCode, StyleID, DisplayOrder FROM dbo.IN_Colours",
			"CREATE VIEW dbo.Narrow AS SELECT Description, LastSavedDateTime FROM dbo.CR_Classification",
			"CREATE VIEW dbo.Wide AS SELECT CAST(ID AS nvarchar(40)) AS Class FROM (VALUES (1), (2), (3)) v (ID)",
			"CREATE VIEW dbo.Numbers AS SELECT RecID, 5 AS InventoryID, LogicalID, Available FROM dbo.IN_ProductAvailability")
		text, r := provenOn(t, dsn, map[string]string{"IN_Colours": "Flaky", "CR_Classification": "Narrow", "DB_Class": "Wide", "IN_ProductAvailability": "Numbers", "SY_Filters": "Nowhere"}, prove.Options{})
		expectNoData(t, text, append(names, "Flaky", "Narrow", "Wide", "Numbers")...)
		for name, all := range map[string][]string{
			"columns":    {"failed CR_Classification: server error ", "not checked SY_Filters: no table or view is seen"},
			"parameters": {"warning IN_ProductAvailability: 1 columns are converted for comparisons: InventoryID (int)"},
			"round trip": {"not checked IN_Colours: ", "Description Equal: differs with each read", "not checked IN_ProductAvailability: 8 of ", "not checked DB_Class: 4 of 9 statements: Class StartsWith: size, Class EndsWith: size, Class Contains: size, Class Like: size"},
			"pages":      {"not checked IN_Colours, IN_ProductAvailability: size: no index starts with RecID"},
		} {
			for _, want := range all {
				if got := r.details(name); !strings.Contains(got, want) {
					t.Errorf("%s: %s\nwant %s", name, got, want)
				}
			}
		}
	})
}

// storeAt returns the configuration of own tables on a server.
func storeAt(dsn string) appdb.Config {
	return appdb.Config{DSN: dsn, LockTimeout: time.Minute, Limits: func() executor.Limits { return executor.Limits{} }}
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
	found, err := prove.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(found, "", "  ")
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b), r
}

// collation matches the name of the database's collation, which the server's setting decides.
var collation = regexp.MustCompile(`"Detail": "\w+_ci_as: `)

// ended matches the status and the detail of the checks with a result that on Babelfish depends
// on the time at which the server notices the end of a connection.
var ended = regexp.MustCompile(`"Status": "[^"]*",\n +"Detail": "[^"]*",(\n +"Side": "erp",\n +"Proves": "a (cancelled )?statement (over its time limit )?ends on the server")`)

// TestKilled checks that a later run drops the scratch schema of a run that was killed,
// once the schema is old enough.
func TestKilled(t *testing.T) {
	dsn := mssqltest.Database(t)
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
	left := func() int64 {
		return mssqltest.Count(t, dsn, `SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA LIKE 'whd[_]prove[_]%'`)
	}
	for left() < 3 { // in the middle of the migrations
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
	mssqltest.AwaitSessions(t, dsn, 0)
	mssqltest.Exec(t, dsn, "CREATE SCHEMA whd_prove_old") // not a name of a scratch schema
	for _, c := range []struct {
		age  time.Duration
		want string
	}{{time.Hour, "created; 0 of earlier runs dropped"}, {0, "created; 1 of earlier runs dropped"}, {0, "created; 0 of earlier runs dropped"}} {
		if left() == 0 && c.age > 0 {
			t.Fatal("the killed run has left no tables")
		}
		got, err := prove.Scratch(t.Context(), prove.Options{Store: storeAt(dsn), MaxAge: c.age})
		if err != nil || got != c.want {
			t.Errorf("%v: %s (%v), want %s", c.age, got, err, c.want)
		}
	}
	if n := mssqltest.Count(t, dsn, `SELECT COUNT(*) FROM sys.schemas WHERE name LIKE 'whd[_]prove[_]%'`); n != 1 || left() != 0 {
		t.Error(fmt.Sprint(n, " schemas and ", left(), " tables are left, want only that of another name"))
	}
}
