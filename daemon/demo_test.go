package daemon_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/sqlite"
)

// setDemoBill changes the custom field of the demo example with the demo key.
func setDemoBill(t *testing.T, url, dir string) (status int, body string) {
	t.Helper()
	billID, stageID, settingID := demo.BillExample()
	return patch(t, url+"/Bills/"+billID+"/Stages/"+stageID+"/CustomFieldValues/"+settingID, dir)
}

func patch(t *testing.T, url, dir string) (status int, body string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(dir, "demo-key"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "PATCH", url, strings.NewReader(`{"Contents":"Assembly"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	r.Close = true
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

// TestDemoBillsOfOlderStore checks that bills are added to a demo store of a version
// without bills, and not to other stores.
func TestDemoBillsOfOlderStore(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	daemontest.Prepare(t, dir, "--demo") // by a first start
	for _, start := range []string{"second", "again", "without bills"} {
		if start == "without bills" {
			dropBills(t, dir)
		}
		i, err := daemontest.Open(dir, "--demo")
		if err != nil {
			t.Fatal(err)
		}
		status, body := setDemoBill(t, i.URL, dir)
		if status != 200 ||
			!strings.Contains(body, `"Contents":"Assembly"`) ||
			!strings.Contains(body, `"SettingName":"Workstation"`) {
			t.Errorf("%s: status %d, %s", start, status, body)
		}
		loaded := strings.Contains(i.Log.String(), "demo bills loaded")
		if loaded != (start == "without bills") {
			t.Errorf("%s: bills were loaded: %v", start, loaded)
		}
		if err := i.Stop(); err != nil {
			t.Fatal(err)
		}
	}

	dropBills(t, dir)
	key := filepath.Join(dir, "demo-key")
	kept, err := os.ReadFile(key)
	if err = errors.Join(err, os.Remove(key)); err != nil {
		t.Fatal(err)
	}

	i := daemontest.StartIn(t, dir, "--demo")
	if err := os.WriteFile(key, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, body := setDemoBill(t, i.URL, dir); status != 404 || !strings.Contains(body, "there is no bill") {
		t.Errorf("no demo store: status %d, %s", status, body)
	}
}

func dropBills(t *testing.T, dir string) {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, table := range erp.BillTables().Kinds() {
		if err := conn.Exec("DROP TABLE " + table.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBannerCommandChangesBill runs the banner's command that changes a bill.
func TestBannerCommandChangesBill(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	conf, err := daemontest.Settings([]string{"--listen", "127.0.0.1:0", "--data-dir", dir, "--demo"})
	if err != nil {
		t.Fatal(err)
	}

	out := make(output, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, conf, out) }()
	command := regexp.MustCompile(`curl -X PATCH -H "Authorization: Bearer [^"]*"?.*" "(http://\S+)" -d '\{"Contents":"Assembly"\}'\n`)
	for found := []string(nil); found == nil; {
		select {
		case text := <-out:
			found = command.FindStringSubmatch(text)
			if found == nil {
				continue
			}
			if status, body := patch(t, found[1], dir); status != 200 {
				t.Errorf("%s: status %d, %s", found[0], status, body)
			}
		case err := <-ended:
			t.Fatalf("no command to try (%v)", err)
		}
	}

	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestDocsBill checks that the manual's example bill exists in the demo records.
func TestDocsBill(t *testing.T) {
	text, err := os.ReadFile("../cmd/daemon/docs/bills.md")
	if err != nil {
		t.Fatal(err)
	}
	billID, stageID, settingID := demo.BillExample()
	if !strings.Contains(string(text), "/Bills/"+billID+"/Stages/"+stageID+"/CustomFieldValues\"") ||
		!strings.Contains(string(text), "/"+settingID+"\"") {
		t.Errorf("bills.md does not use the bill %s, %s, %s", billID, stageID, settingID)
	}
}
