//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
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
		if err := conn.Query(sql, func(s *sqlite.Stmt) error { read(s); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", func(s *sqlite.Stmt) { tables = append(tables, s.Text(0)) })
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
	t.Errorf("%s: %d records, want %d", when, len(got), len(want))
	for key, record := range want {
		if got[key] != record {
			t.Errorf("%q: %s, want %s", key, got[key], record)
			return
		}
	}
}

// whctl mirror is killed at random moments, of the first load too, while the records change,
// and sometimes its token becomes invalid. Whenever it is killed, the copy is exact at its
// token; at last it is that of the service.
func TestMirrorSurvivesKills(t *testing.T) {
	t.Parallel()
	service := serveChanges(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	kills, exact := 50, 0
	for n := range kills {
		if n%9 == 8 {
			service.forget()
		}
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
			case <-service.served: // a request
			case err := <-ended:
				t.Fatalf("ended by itself: %v\n%s", err, &stderr)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-ended
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if token, records, _ := copyOf(t, path); token != "" {
			exact++
			compareCopies(t, "after a kill at "+token, records, service.at(token))
		}
	}
	if exact < kills/4 {
		t.Errorf("only %d of %d kills left a copy to compare", exact, kills)
	}
	service.stop()
	run := process(t, service.url, "mirror", "SO_Totals", "--to", path, "--once")
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "SO_Totals is current as of ") {
		t.Fatalf("%v\n%s", err, out)
	}
	token, records, tables := copyOf(t, path)
	if want := service.token(len(service.log)); token != want {
		t.Errorf("the token is %s, want %s", token, want)
	}
	compareCopies(t, "at last", records, service.records)
	if want := "SO_Totals _whd_mirror"; strings.Join(tables, " ") != want {
		t.Errorf("tables %q, want %q", tables, want)
	}
}

// A copy is loaded again below a view on it when its changes are not available any more, and
// has no column for a field that is not captured.
func TestMirrorLoadsAgain(t *testing.T) {
	service := serveChanges(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	mirror := func(want string) {
		t.Helper()
		out, err := process(t, service.url, "mirror", "SO_Totals", "--to", path, "--once").CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	mirror("SO_Totals loaded: ")
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec("CREATE VIEW large AS SELECT * FROM SO_Totals WHERE InvoiceTotal <> ''"); err != nil {
		t.Fatal(err)
	}
	service.forget()
	mirror("SO_Totals is loaded again: ResyncRequired: the token is too old")
	if err := conn.Exec("UPDATE _whd_mirror SET fields = 'InvoiceID string'"); err != nil {
		t.Fatal(err)
	}
	service.stop()
	mirror("SO_Totals is loaded again: its fields have changed")
	rows, _, err := conn.QueryInt("SELECT count(*) FROM large")
	if err != nil || rows != int64(len(service.records)) {
		t.Errorf("the view has %d rows, want %d: %v", rows, len(service.records), err)
	}
	columns, err := conn.Columns("SO_Totals")
	if err != nil || len(columns) != 7 {
		t.Errorf("columns %+v: %v", columns, err)
	}
}

// A load with a lost connection starts again with another token, and fails if that does not
// get further.
func TestMirrorRepeatsLoads(t *testing.T) {
	service := serveChanges(t)
	service.cutNextLoad()
	path := filepath.Join(t.TempDir(), "copy.db")
	out, err := process(t, service.url, "mirror", "SO_Totals", "--to", path, "--once").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "SO_Totals: incomplete reply: ") || !strings.Contains(string(out), "; load 2 starts in 1s\n") {
		t.Errorf("%v\n%s", err, out)
	}
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
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		if text, err := os.ReadFile(state); err != nil || stderr.String() != "continue with --since "+string(text) {
			t.Errorf("stderr %q: %v", &stderr, err)
		}
		return stdout.String()
	}
	output := follow("--state", state, "--since", service.token(0))
	for range 5 {
		output += follow("--state", state)
	}
	want := 0
	for line := range strings.Lines(output) {
		var c struct {
			ChangeID int
			Op       string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		want++
		if c.ChangeID != want || c.Op != service.log[want-1].op {
			t.Fatalf("change %d: %s", want, line)
		}
	}
	if want < 10 {
		t.Errorf("only %d changes", want)
	}
	if text, err := os.ReadFile(state); err != nil || strings.TrimSpace(string(text)) != service.token(want) {
		t.Errorf("the state is %s, want %s: %v", text, service.token(want), err)
	}
	service.forget()
	cmd := process(t, service.url, "follow", "SO_Totals", "--state", state)
	out, err := cmd.CombinedOutput()
	if code := exitOf(t, err); code != 6 || !strings.Contains(string(out), "ResyncRequired") {
		t.Errorf("exit %d\n%s", code, out)
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
