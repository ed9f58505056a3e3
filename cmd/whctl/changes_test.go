//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/sqlite"
)

// copyOf reads a copy of SO_Totals with its token, which is empty if there is none.
func copyOf(t *testing.T, path string) (token string, records map[string]string, tables []string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query := func(sql string, read func(*sqlite.Stmt)) {
		err := conn.Query(sql, func(s *sqlite.Stmt) error {
			read(s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", func(s *sqlite.Stmt) {
		tables = append(tables, s.Text(0))
	})
	if tables == nil { // it was killed before the first statement
		return "", nil, nil
	}
	query("SELECT token FROM _whd_mirror", func(s *sqlite.Stmt) { token = s.Text(0) })
	if token == "" {
		return "", nil, tables
	}
	records = make(map[string]string)
	query("SELECT InvoiceID, InvoiceTotal, Cartage1Total FROM SO_Totals", func(s *sqlite.Stmt) {
		key, _ := json.Marshal(s.Text(0))
		text := `{"InvoiceID":` + string(key) + `,"InvoiceTotal":` + s.Text(1)
		if !s.Null(2) {
			text += `,"Cartage1Total":` + s.Text(2)
		}
		records[s.Text(0)] = text + "}"
	})
	return token, records, tables
}

// compareCopies reports the differences of a copy from the records at its token.
func compareCopies(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	t.Errorf("%s: got %d records, want %d", when, len(got), len(want))
	for key, record := range want {
		if got[key] != record {
			t.Errorf("%s: got the record %q %s, want %s", when, key, got[key], record)
			return
		}
	}
}

// TestMirrorSurvivesKills kills whctl mirror at random moments, of the first load too, while the
// records change and sometimes its token becomes invalid. Whenever it is killed, the copy is exact
// at its token; at last it is that of the service.
func TestMirrorSurvivesKills(t *testing.T) {
	t.Parallel()
	const kills = 50
	service := serveChanges(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	compared := 0
	for n := range kills {
		if n%9 == 8 {
			service.forget()
		}
		killMirror(t, service, path)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if token, records, _ := copyOf(t, path); token != "" {
			compared++
			compareCopies(t, "after a kill at "+token, records, service.at(token))
		}
	}
	if compared < kills/4 {
		t.Errorf("only %d of %d kills left a copy to compare, want %d", compared, kills, kills/4)
	}

	service.stop()
	wantMirror(t, service, path, "SO_Totals is current as of ")
	token, records, tables := copyOf(t, path)
	if want := service.token(len(service.log)); token != want {
		t.Errorf("got the token %s, want %s", token, want)
	}
	compareCopies(t, "at last", records, service.records)
	if want := []string{"SO_Totals", "_whd_mirror"}; !slices.Equal(tables, want) {
		t.Errorf("got the tables %q, want %q", tables, want)
	}
}

// killMirror kills whctl mirror after some requests.
func killMirror(t *testing.T, service *changingService, path string) {
	t.Helper()
	cmd := process(t, service.url, "mirror", "SO_Totals", "--to", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 1 + rand.IntN(12) {
		select {
		case <-service.served:
		case err := <-ended:
			t.Fatalf("whctl mirror ended by itself: %v\n%s", err, &stderr)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-ended
}

// wantMirror brings a copy up to date and checks a part of the output.
func wantMirror(t *testing.T, service *changingService, path string, want ...string) {
	t.Helper()
	cmd := process(t, service.url, "mirror", "SO_Totals", "--to", path, "--once")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("whctl mirror: %v\n%s", err, out)
	}
	for _, text := range want {
		if !strings.Contains(string(out), text) {
			t.Fatalf("whctl mirror: got %q, want %q", out, text)
		}
	}
}

// A copy is loaded again below a view on it when its changes are not available any more, and
// has no column for a field that is not captured.
func TestMirrorLoadsAgain(t *testing.T) {
	service := serveChanges(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	wantMirror(t, service, path, "SO_Totals loaded: ")
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec("CREATE VIEW large AS SELECT * FROM SO_Totals WHERE InvoiceTotal <> ''"); err != nil {
		t.Fatal(err)
	}
	service.forget()
	wantMirror(t, service, path, "SO_Totals is loaded again: ResyncRequired: the token is too old")
	if err := conn.Exec("UPDATE _whd_mirror SET fields = 'InvoiceID string'"); err != nil {
		t.Fatal(err)
	}
	service.stop()
	wantMirror(t, service, path, "SO_Totals is loaded again: its fields have changed")
	rows, _, err := conn.QueryInt("SELECT count(*) FROM large")
	if err != nil || rows != int64(len(service.records)) {
		t.Errorf("got %d rows of the view, error %v; want %d", rows, err, len(service.records))
	}
	columns, err := conn.Columns("SO_Totals")
	if err != nil || len(columns) != 7 {
		t.Errorf("got the columns %+v, error %v; want 7", columns, err)
	}
}

// A load with a lost connection starts again with another token, and fails if that does not
// get further.
func TestMirrorRepeatsLoads(t *testing.T) {
	service := serveChanges(t)
	service.cutNextLoad()
	path := filepath.Join(t.TempDir(), "copy.db")
	wantMirror(t, service, path, "SO_Totals: incomplete response: ", "; load 2 starts in 1s\n")
	token, records, _ := copyOf(t, path)
	compareCopies(t, "after a repeated load", records, service.at(token))
}

// whctl follow continues from its state file, and prints every change once unless it is
// killed.
func TestFollowContinues(t *testing.T) {
	service := serveChanges(t)
	state := filepath.Join(t.TempDir(), "token")
	follow := func(args ...string) string {
		t.Helper()
		cmd := process(t, service.url, append([]string{"follow", "SO_Totals", "--once"}, args...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout = &stdout
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("whctl follow %q: %v\n%s", args, err, &stderr)
		}
		token, err := os.ReadFile(state)
		if want := "continue with --since " + string(token); err != nil || stderr.String() != want {
			t.Errorf("whctl follow %q: got stderr %q, error %v; want %q", args, &stderr, err, want)
		}
		return stdout.String()
	}
	output := follow("--state", state, "--since", service.token(0))
	for range 5 {
		output += follow("--state", state)
	}
	printed := 0
	for line := range strings.Lines(output) {
		var c struct {
			ChangeID int
			Op       string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		printed++
		if want := service.log[printed-1].op; c.ChangeID != printed || c.Op != want {
			t.Fatalf("got the line %q, want the change %d, %s", line, printed, want)
		}
	}
	if printed < 10 {
		t.Errorf("got only %d changes, want 10 or more", printed)
	}
	text, err := os.ReadFile(state)
	want := service.token(printed) + "\n"
	if err != nil || string(text) != want {
		t.Errorf("the state file has %q, error %v; want %q", text, err, want)
	}

	service.forget()
	out, err := process(t, service.url, "follow", "SO_Totals", "--state", state).CombinedOutput()
	if code := exitOf(t, err); code != 6 || !strings.Contains(string(out), "ResyncRequired") {
		t.Errorf("whctl follow with a token that is too old: got exit code %d and %q, "+
			"want 6 and ResyncRequired", code, out)
	}
}

// TestMirrorShowsTimeInZone checks that the time of a copy, which is that of its last change, is in
// the time zone of the settings.
func TestMirrorShowsTimeInZone(t *testing.T) {
	service := serveChanges(t)
	got := invocation{
		config: writeConfig(t, "profile = 'prod'\n[profiles.prod]\ntime_zone = 'Asia/Tokyo'\n"),
		env:    map[string]string{profile.EnvURL: service.url},
	}.run(t, "mirror", "SO_Totals", "--to", filepath.Join(t.TempDir(), "copy.db"), "--once")

	want := "SO_Totals is current as of 2026-11-26 19:00:00, " // 10:00:00 in UTC
	if got.code != 0 || !strings.Contains(got.stderr, want) {
		t.Errorf("whctl mirror: got exit code %d and %q, want 0 and %q", got.code, got.stderr, want)
	}
}
