//go:build unix

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/sqlite"
)

// dropLoad removes the table of a load when it has rows, as another process does.
func dropLoad(t *testing.T, path string) {
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true, BusyTimeout: testTimeout})
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); {
		var table string
		err := conn.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '_whd_load%'",
			func(s *sqlite.Stmt) error {
				table = sqlite.Quote(s.Text(0))
				return nil
			})
		if err != nil {
			t.Error(err)
			return
		}
		var rows int64
		if table != "" {
			rows, _, err = conn.QueryInt("SELECT count(*) FROM " + table)
		}
		if rows > 0 {
			time.Sleep(100 * time.Millisecond) // until the progress is shown
			err = conn.Exec("DROP TABLE " + table)
		}
		if rows > 0 || err != nil {
			if err != nil {
				t.Error(err)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("there is no load with rows")
}

// TestMirrorEndsWithClearLine checks that the error of a load names the kind, and that nothing of the
// progress is around it on a terminal.
func TestMirrorEndsWithClearLine(t *testing.T) {
	service := serveChanges(t)
	service.stop()
	path := filepath.Join(t.TempDir(), "copy.db")
	got := invocation{
		prompter: cmdline.Prompter{Watches: true},
		handler: withoutKinds(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/Queries/SO_Totals" {
				service.serve(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/x-ndjson")
			for n := range 12_000 { // more than two pages
				if n == 6000 {
					_ = http.NewResponseController(w).Flush()
					dropLoad(t, path)
				}
				fmt.Fprintf(w, "{\"InvoiceID\":\"D%d\"}\n", n)
			}
		}),
	}.run(t, "mirror", "SO_Totals", "--to", path, "--once")

	if want := "\rSO_Totals: loading, 5,000 rows"; !strings.Contains("\r"+got.stderr, want) {
		t.Errorf("got %q, want the progress %q", got.stderr, want)
	}
	end := regexp.MustCompile(`\r +\rwhctl: SO_Totals: another process keeps .*\n$`)
	if got.code == 0 || !end.MatchString(got.stderr) {
		t.Errorf("got exit code %d and %q, want an error, and the end %s", got.code, got.stderr, end)
	}
}

// TestMirrorOfServiceAhead checks the age of a copy if the clock of the service is five seconds ahead.
func TestMirrorOfServiceAhead(t *testing.T) {
	service := serveChanges(t)
	got := invocation{
		env: map[string]string{profile.EnvURL: service.url},
		now: time.Date(2026, 11, 26, 9, 59, 55, 0, time.UTC),
	}.run(t, "mirror", "SO_Totals", "--to", filepath.Join(t.TempDir(), "copy.db"), "--once")

	want := regexp.MustCompile(`SO_Totals is current as of .*, 0s ago\n`)
	if got.code != 0 || !want.MatchString(got.stderr) {
		t.Errorf("got exit code %d and %q, want 0 and %s", got.code, got.stderr, want)
	}
}
