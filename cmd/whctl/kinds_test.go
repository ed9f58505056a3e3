package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/whctl/profile"
)

// ownKinds is a list of record kinds. DB_Class has another field than the built-in one.
const ownKinds = `[
	{"Name":"DB_Class","Operation":"DB_ClassQuery","Area":"Debtors","Summary":"Debtor classes",
	"Fields":[{"Name":"Class","Type":"string"},{"Name":"Colour","Type":"string"}]},
	{"Name":"DB_Main","Operation":"DB_MainQuery","Area":"Own debtors","Summary":"Debtors",
	"Key":["DebtorID"],
	"Fields":[{"Name":"DebtorID","Type":"string"},{"Name":"CreditLimit","Type":"decimal?"}]}]`

// kindService serves record kinds with a tag, and counts the requests and the replies.
type kindService struct {
	list     string
	tag      string // entity tag of the list
	status   int    // of the reply; 0 for success
	requests int    // number of requests for the list
	sent     int    // number of replies with the list
}

func (s *kindService) serve(w http.ResponseWriter, r *http.Request) {
	s.requests++
	w.Header().Set("ETag", s.tag)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case s.status != 0:
		status(s.status, "X")(w, r)
	case r.Header.Get("If-None-Match") == s.tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		s.sent++
		io.WriteString(w, s.list)
	}
}

// newKindService returns a service with own kinds and an invocation of it. Both keep their
// address and configuration between commands.
func newKindService(t *testing.T) (*kindService, invocation) {
	s := &kindService{list: ownKinds, tag: `W/"1"`}
	inv := invocation{
		config:  t.TempDir(),
		kinds:   s.serve,
		handler: rows(1, `{"DebtorID":"D1","CreditLimit":12.50}`),
	}
	address := inv.serve(t)
	inv.env = map[string]string{profile.EnvURL: address}
	return s, inv
}

// age makes the stored kinds older.
func (inv invocation) age(t *testing.T, by time.Duration) {
	t.Helper()
	file := filepath.Join(inv.config, "kinds", "default.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written := time.Now().Add(-by).Format(`"At":"` + time.RFC3339 + `"`)
	text = regexp.MustCompile(`"At":"[^"]+"`).ReplaceAll(text, []byte(written))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantRun runs a command and checks its exit code and a part of its output.
func (inv invocation) wantRun(t *testing.T, line string, code int, want string) {
	t.Helper()
	got := inv.run(t, strings.Fields(line)...)
	if got.code != code || !strings.Contains(got.stdout+got.stderr, want) {
		t.Errorf("whctl %s: got %v; want exit code %d, %q", line, got, code, want)
	}
}

// wantCompletion completes the last word of a line in fish and checks the candidates.
func (inv invocation) wantCompletion(t *testing.T, line string, want ...string) {
	t.Helper()
	got := completions(t, inv, "fish", strings.Split(line, " ")...)
	if !slices.Equal(got, want) {
		t.Errorf("completing %q: got %q, want %q", line, got, want)
	}
}

// wantRequests checks the number of requests for the list, and of lists sent.
func (s *kindService) wantRequests(t *testing.T, requests, sent int) {
	t.Helper()
	if s.requests != requests || s.sent != sent {
		t.Errorf("the service has got %d requests and sent %d lists, want %d and %d",
			s.requests, s.sent, requests, sent)
	}
}

// The kinds of the service are known to queries, to the list and to completion. They are
// stored, and requested again after some minutes, or if a kind is unknown.
func TestOwnKinds(t *testing.T) {
	s, inv := newKindService(t)
	inv.wantRun(t, "query DB_Main --where CreditLimit>=10 --fields creditlimit --json", 0, `"CreditLimit":12.50`)
	s.wantRequests(t, 1, 1)
	inv.wantRun(t, "query db_class --fields Colour --json", 0, "[")
	inv.wantRun(t, "query DB_Main --where CreditLimit>=x", 2, "CreditLimit must be a number")
	s.wantRequests(t, 1, 1)
	inv.wantRun(t, "query SO_Totals", 2, "unknown record")
	s.wantRequests(t, 2, 1)
	inv.age(t, 6*time.Minute)
	inv.wantRun(t, "query DB_Main --count", 0, "1")
	inv.wantRun(t, "query DB_Main --count", 0, "1")
	s.wantRequests(t, 3, 1)
	inv.wantRun(t, "records --csv", 0, "DB_Main,Own debtors,2,Debtors\n")
	inv.wantRun(t, "records DB_Main --csv", 0, "CreditLimit,decimal?,")
	s.wantRequests(t, 5, 1)

	inv.wantCompletion(t, "query ", "DB_Class", "DB_Main")
	inv.wantCompletion(t, "query DB_Main --fields C", "CreditLimit")
	inv.wantCompletion(t, "--user ann query SO_", "SO_Totals") // the kinds of another user are not known
	s.wantRequests(t, 5, 1)

	s.tag = `W/"2"`
	s.list = strings.ReplaceAll(ownKinds, "DB_Main", "DB_Debtor")
	inv.wantRun(t, "query DB_Debtor --count", 0, "1") // unknown, so requested again
	s.wantRequests(t, 6, 2)
}

// Each profile has its own kinds, which are deleted with it.
func TestKindsOfProfile(t *testing.T) {
	s, inv := newKindService(t)
	inv.config = writeConfig(t, "[profiles.prod]\nurl = '"+inv.env[profile.EnvURL]+"'\n")
	inv.wantRun(t, "query DB_Main --count --profile prod", 0, "1")
	s.wantRequests(t, 1, 1)
	inv.wantRun(t, "query DB_Main --count", 0, "1")
	s.wantRequests(t, 2, 2)
	inv.wantCompletion(t, "--profile=prod query DB_M", "DB_Main")
	inv.wantRun(t, "profile delete prod", 0, "deleted")
	files, err := os.ReadDir(filepath.Join(inv.config, "kinds"))
	if err != nil || len(files) != 1 || files[0].Name() != "default.json" {
		t.Errorf("after whctl profile delete: got the files %q, error %v; want default.json", files, err)
	}
}

// TestKindsThatCannotBeRead checks that without the list the stored kinds are used, or else the
// built-in ones.
func TestKindsThatCannotBeRead(t *testing.T) {
	s, inv := newKindService(t)

	// Nothing is stored: the built-in kinds are used.
	s.status = http.StatusInternalServerError
	inv.wantRun(t, "query DB_Class --count", 0, "1")
	inv.wantRun(t, "query DB_Main", 6, "no good")
	inv.wantRun(t, "records", 0, "some record kinds may be missing: ")
	s.status = http.StatusNotFound // an earlier version
	inv.wantRun(t, "query SO_Totals --count", 0, "1")
	inv.wantRun(t, "records --csv", 0, "SO_Totals,Sales,8,")

	// Stored kinds are used even if they are old.
	s.status = 0
	inv.wantRun(t, "records --csv", 0, "DB_Main")
	s.status = http.StatusUnauthorized
	inv.age(t, time.Hour)
	inv.wantRun(t, "query DB_Main --count", 0, "1")
	s.wantRequests(t, 7, 1)

	// A dry run does not request them.
	inv.wantRun(t, "query DB_Main --dry-run", 0, "POST ")
	inv.wantRun(t, "records --dry-run --csv", 0, "DB_Main")
	s.wantRequests(t, 7, 1)

	// A damaged file is ignored.
	file := filepath.Join(inv.config, "kinds", "default.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	inv.wantRun(t, "query DB_Main", 4, "no good")
	inv.wantRun(t, "query SO_Totals --count", 0, "1")
}
