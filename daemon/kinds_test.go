package daemon_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// writeKinds writes a file of record kinds into a directory.
func writeKinds(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+kinds.Extension), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// makeRecords creates tables in records.db with statements.
func makeRecords(t *testing.T, dir string, statements ...string) {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range statements {
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

const parcelKind = `[Parcel]
source = "Parcels"
summary = "Parcels on their way"
area = "Post office"
key = ["No"]
index = ["Sent"]
[Parcel.fields]
No = "int"
Weight = "decimal?"
Sent = "DateTime?"
Phone = { type = "string", column = "Phone No." }
`

var parcelRows = []string{
	`CREATE TABLE Parcels ("No" INTEGER PRIMARY KEY, Weight TEXT_DECIMAL, Sent TEXT, "Phone No." TEXT)`,
	`INSERT INTO Parcels VALUES (1, '2.50', '2026-01-02T00:00:00.0000000', '+49 1'), (2, NULL, NULL, '+49 2')`,
}

// TestOwnKind queries a kind of a file in every way.
func TestOwnKind(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	makeRecords(t, dir, parcelRows...)
	writeKinds(t, filepath.Join(dir, "kinds"), "parcels", parcelKind)
	writeKinds(t, filepath.Join(dir, "kinds"), "wrong",
		"[Wrong.fields]\nID = 'strng'\n[Gone]\nkey = ['ID']\n[Gone.fields]\nID = 'string'\n")
	s := serveFile(t, "erp.kinds = ['"+filepath.Join(dir, "kinds")+"']\n[auth]\nqueries = 'anonymous'\n", "--erp", "demo", "--data-dir", dir)
	s.log.Await(t, "level=WARN", "wrong.toml:2: ID: unknown type", "did you mean string?")
	s.log.Await(t, "record kinds read from files", "kinds=2", "mistakes=1")
	for path, want := range map[string]string{
		"/json/reply/ParcelQuery?NoLessThan=2":              `{"No":1,"Weight":2.50,"Sent":"2026-01-02T00:00:00.0000000","Phone":"+49 1"}`,
		"/Queries/parcel.csv?PhoneEndsWith=2":               "No,Weight,Sent,Phone\r\n2,,,+49 2\r\n",
		"/xml/reply/ParcelQuery?WeightGreaterThan=1":        "<Weight>2.50</Weight>",
		"/Queries/Parcel.html":                              "+49 1",
		"/Queries/Parcel.json?OrderByDesc=Weight&Fields=No": `{"No":1},{"No":2}`,
		"/openapi.json":                                     `"ParcelQuery"`,
		"/metadata?op=ParcelQuery&format=json":              "Post office",
		"/types/typescript":                                 "class Parcel",
		"/Kinds.json":                                       "Parcels on their way",
		"/Queries/Parcels":                                  "did you mean Parcel?",
		"/Queries/Gone":                                     "no matching table for this record kind",
		"/Queries/Wrong":                                    "unknown record kind",
	} {
		if _, body := get(t, s.url+path); !strings.Contains(body, want) {
			t.Errorf("%s has no %s: %.2000s", path, want, body)
		}
	}

	if _, body := get(t, s.url+"/openapi.json"); strings.Contains(body, "Wrong") {
		t.Error("openapi.json has Wrong")
	}

	s.end(t)
	makeRecords(t, dir, `DROP INDEX "Parcels_Sent"`, "ALTER TABLE Parcels DROP COLUMN Weight",
		"INSERT INTO Parcels VALUES (3, NULL, '+49 2')")
	writeKinds(t, filepath.Join(dir, "kinds"), "senders",
		"[Sender]\nsource = 'Parcels'\nkey = ['Phone']\n[Sender.fields]\nPhone = { type = 'string', column = 'Phone No.' }\n")

	// whd check lists missing tables and columns, wrong keys, and the mistakes in the files.
	var report, log bytes.Buffer
	status := whd.Main(whd.Process{
		Args: []string{
			"check",
			"--data-dir", dir,
			"--erp", "demo",
			"--erp-kinds", filepath.Join(dir, "kinds"),
		},
		Stdout: &report,
		Stderr: &log,
	})
	if status != 1 {
		t.Errorf("exit status %d: %s", status, &log)
	}

	builtin := len(record.Builtin().Kinds())
	for _, want := range []string{
		`Parcel  Parcels        Weight  there is no such column Weight; correct the field in its file, Weight = { type = "decimal?", column = "THEIR_NAME" }, or remove it`,
		"there is no such table or view, or no permission to read it; if it has another name, set that in erp.sources or as source in its file",
		"warning: the declared key does not identify the rows: the number of rows with Phone = +49 2 is 2; correct key in the file of the kind",
		fmt.Sprintf("records: %d of %d kinds are complete", builtin+1, builtin+3), "wrong.toml:2: ID: unknown type", "3 kinds from files",
	} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("the report has no %s:\n%s", want, &report)
		}
	}
}

// TestTakenNames checks that no kind of a file can have the name of an operation or of a
// kind of the service.
func TestTakenNames(t *testing.T) {
	taken := kinds.Taken()
	for _, name := range rest.Describe().AllNames() {
		if _, query := record.Builtin().Lookup(name); !query && !slices.Contains(taken, name) {
			t.Errorf("the operation %s", name)
		}
	}
	for _, kind := range record.System().Kinds() {
		if !slices.Contains(taken, kind.Name) {
			t.Errorf("the kind %s", kind.Name)
		}
	}
}

// declaredType matches a type that a template of TypeScript declares, apart from those of kinds.
var declaredType = regexp.MustCompile(`(?m)^export (?:class|interface) (\w+)`)

// TestNamesOfTypesAreTaken checks that no kind of a file can have the name of a type that the types for
// TypeScript declare or use.
func TestNamesOfTypesAreTaken(t *testing.T) {
	names := []string{"Partial"}
	for _, file := range []string{"types.ts", "types.webhooks.ts"} {
		text, err := os.ReadFile(filepath.Join("metadata", "templates", file))
		if err != nil {
			t.Fatal(err)
		}
		declared := declaredType.FindAllStringSubmatch(string(text), -1)
		if declared == nil {
			t.Errorf("%s declares no type", file)
		}
		for _, match := range declared {
			names = append(names, match[1])
		}
	}
	for _, name := range names {
		if !slices.Contains(kinds.Taken(), name) {
			t.Errorf("a kind can have the name of the type %s", name)
		}
	}
}

// TestUnknownOfManyKinds checks that the error of an unknown name does not list all names.
func TestUnknownOfManyKinds(t *testing.T) {
	dir, text := t.TempDir(), ""
	for n := range 480 {
		text += fmt.Sprintf("[DB_Table%d.fields]\nID = 'int'\n", n)
	}
	writeKinds(t, dir, "many", text)
	s := serveFile(t, "erp.kinds = ['"+dir+"']\n[auth]\nqueries = 'anonymous'\n", "--erp", "demo",
		"--data-dir", t.TempDir())
	defer s.end(t)
	for path, want := range map[string]string{
		"/Queries/Nothing.json":             fmt.Sprintf("unknown record kind Nothing; known: %d names, which GET /metadata and, for record kinds, GET /Kinds list", 480+len(record.Builtin().Kinds())),
		"/json/reply/Nothing":               "names, which GET /metadata",
		"/metadata?op=Nothing&format=json":  "names, which GET /metadata",
		"/json/reply/DB_Tabel17Query":       "did you mean DB_Table17Query,",
		"/Queries/SO_Total.json":            "did you mean SO_Totals?",
		"/metadata?op=SO_Total&format=json": "SO_TotalsQuery",
	} {
		if _, body := get(t, s.url+path); !strings.Contains(body, want) || len(body) > 1000 {
			t.Errorf("%s has no %s: %.2000s", path, want, body)
		}
	}
}

// TestReloadKinds reloads files while requests are served and exports run: none fails, and
// the columns of each response are those of one registry.
func TestReloadKinds(t *testing.T) {
	noLeaks(t)
	s := serveFile(t, turnSettings, "--erp", "demo")
	makeRecords(t, s.dir, append(parcelRows, turnRows...)...)
	dir := filepath.Join(s.dir, "kinds")
	if reply, _ := get(t, s.url+"/Queries/Parcel.json"); reply.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", reply.StatusCode)
	}

	writeKinds(t, dir, "parcels", parcelKind)
	s.reloads <- syscall.SIGHUP
	s.log.Await(t, "record kinds read from files", "kinds=1")

	newTurns(s).run(t)

	// Files that cannot be read at all change nothing.
	for _, name := range []string{"turns", "wrong", "parcels"} {
		writeKinds(t, dir, name, "[")
	}

	s.reloads <- syscall.SIGHUP
	s.log.Await(t, "level=WARN", "parcels.toml:1: ")
	if reply, _ := get(t, s.url+"/Queries/Parcel.json"); reply.StatusCode != http.StatusOK {
		t.Errorf("status %d", reply.StatusCode)
	}

	for _, name := range []string{"turns", "wrong", "parcels"} {
		writeKinds(t, dir, name, "")
	}

	s.reloads <- syscall.SIGHUP
	s.log.Await(t, "record kinds read from files", "kinds=0")
	if reply, _ := get(t, s.url+"/Queries/Parcel.json"); reply.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", reply.StatusCode)
	}

	s.end(t)
}

// TestMistakenBuiltin: a mistake in the entry of a built-in kind that requires a role opens the kind
// neither at a reload nor at the start.
func TestMistakenBuiltin(t *testing.T) {
	s := serveFile(t, "[auth]\nqueries = 'anonymous'\n", "--erp", "demo")
	dir := filepath.Join(s.dir, "kinds")
	expect := func(want int, texts ...string) {
		t.Helper()
		reply, body := get(t, s.url+"/Queries/CR_Classification.json?Take=1")
		if reply.StatusCode != want {
			t.Errorf("status %d, want %d: %s", reply.StatusCode, want, body)
		}
		for _, text := range texts {
			if !strings.Contains(string(body), text) {
				t.Errorf("%q is not in %s", text, body)
			}
		}
	}
	reload := func(entry string, lines ...string) {
		t.Helper()
		writeKinds(t, dir, "mine", parcelKind+entry)
		s.reloads <- syscall.SIGHUP
		s.log.Await(t, lines...)
	}
	reload("[CR_Classification]\nrole = 'writer'\n", "record kinds read from files", "kinds=2")
	expect(http.StatusUnauthorized)
	reload("[CR_Classification]\nrole = 'writr'\n", "not served because of mistakes", "kinds=CR_Classification")
	expect(http.StatusNotFound, "CR_Classification is not served", "has a mistake", "whd check")
	s.end(t)
	s = serveFile(t, "erp.kinds = ['"+dir+"']\n[auth]\nqueries = 'anonymous'\n", "--erp", "demo")
	s.log.Await(t, "not served because of mistakes", "kinds=CR_Classification")
	expect(http.StatusNotFound)
	s.end(t)
}

// TestRoleOfKind checks the role of a kind on every way out.
func TestRoleOfKind(t *testing.T) {
	dir := t.TempDir()
	makeRecords(t, dir, parcelRows...)
	writeKinds(t, filepath.Join(dir, "kinds"), "parcels", strings.Replace(parcelKind, "key =",
		"role = 'Writer'\nkey =", 1)+
		"[Post.fields]\nNo = 'int'\n[Post]\nsource = 'Parcels'\nrole = 'reader'\n")
	i := daemontest.StartIn(t, dir, "--erp-kinds", filepath.Join(dir, "kinds"), "--auth-queries", "anonymous")
	request := func(path, key string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", i.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		reply, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		body, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(body)
	}

	for _, c := range []struct {
		role         string
		parcel, post int // statuses
	}{{"", 401, 401}, {"reader", 403, 200}, {"publisher", 403, 200}, {"writer", 200, 200}} {
		key := ""
		if c.role != "" {
			key = i.Key(t, c.role)
		}

		list := c.parcel
		if list == 200 {
			list = 400 // there is none in the request
		}

		for path, want := range map[string]int{
			"/Queries/Parcel.json":      c.parcel,
			"/json/reply/ParcelQuery":   c.parcel,
			"/api/ParcelQuery":          c.parcel,
			"/json/reply/ParcelQuery[]": list,
			"/csv/reply/ParcelQuery":    c.parcel,
			"/Queries/Post.json":        c.post,
			"/Queries/IN_Colours.json":  200,
		} {
			if got, body := request(path, key); got != want {
				t.Errorf("%s as %q: status %d, want %d: %.500s", path, c.role, got, want, body)
			}
		}

		for _, path := range []string{
			"/openapi.json",
			"/openapi",
			"/metadata.json",
			"/metadata?op=ParcelQuery&format=json",
			"/types/csharp",
			"/types/typescript",
			"/Kinds.json",
			"/api/Parcels",
			"/routes.json",
		} {
			_, body := request(path, key)
			sees := strings.Contains(body, "Parcels on their way") || strings.Contains(body, "class Parcel ") ||
				strings.Contains(body, "ParcelQuery?")
			if sees != (c.parcel == 200 && path != "/api/Parcels" && path != "/routes.json") {
				t.Errorf("%s as %q: names the kind: %t: %.500s", path, c.role, sees, body)
			}
		}
	}
}
