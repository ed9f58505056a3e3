package rest_test

import (
	"embed"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/encode/encodetest"
)

// browserScripts are programs for Chromium. They need the libraries of the directory browser of
// clientstest.
//
//go:embed testdata/*.js
var browserScripts embed.FS

// runInBrowser runs a script in the directory with its libraries, which it also writes to.
func runInBrowser(t *testing.T, tools, script string, environment ...string) {
	t.Helper()
	err := os.CopyFS(tools, browserScripts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), clientstest.Tool(t, "node"), filepath.Join("testdata", script))
	cmd.Dir = tools
	cmd.Env = append(os.Environ(), "CHROMIUM="+clientstest.Tool(t, "chromium"))
	cmd.Env = append(cmd.Env, environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// troubled is a daemon with three messages that one endpoint refuses, and another that accepts them.
type troubled struct {
	*daemontest.Instance
	right *hook
}

func startTroubled(t *testing.T) troubled {
	t.Helper()
	i := daemontest.Start(t, "--demo", "--webhooks-allow-targets", "127.0.0.1/32")
	boss := asAdmin(t, i)
	wrong, right := newHook(t), newHook(t)
	wrong.fails.Store(true)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers", `{"Name":"Acme"}`).want(t, 201))
	boss.do("POST /Webhooks/Subscribers/"+shop.RecID+"/Subscriptions",
		`{"URL":"`+wrong.url+`/shop","EventName":"debtor.created","Headers":[{"Name":"X-A","Value":"b"}]}`).want(t, 201)
	for range 3 {
		boss.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":{"A":1},"Key":"D1"}`).want(t, 201)
	}
	waitFor(t, "the failures", func() bool {
		return len(boss.do("GET /Webhooks/Messages?Status=2", "").envelope(t).Results) == 3
	})
	return troubled{i, right}
}

// runBrowser runs the script of an administrator.
func (d troubled) runBrowser(t *testing.T, tools, mode string) {
	t.Helper()
	runInBrowser(t, tools, "browser.js", "MODE="+mode, "URL="+d.URL,
		"PASSWORD="+daemontest.AdminPassword, "RIGHT="+d.right.url+"/shop",
		"PATTERNS="+strings.Join(patterns(http.MethodGet), " "))
}

// TestWorkInBrowser does the work of an administrator in Chromium, without scripts and by keyboard
// alone: finds out why deliveries fail, repairs the address, sends messages again, exports records and
// creates an API key.
func TestWorkInBrowser(t *testing.T) {
	for _, mode := range []string{"mouse", "keyboard"} {
		t.Run(mode, func(t *testing.T) {
			tools := clientstest.NodeModules(t, "browser")
			d := startTroubled(t)
			d.runBrowser(t, tools, mode)

			waitFor(t, "the messages that are sent again", func() bool { return d.right.got.Load() == 6 })
			book, err := os.ReadFile(filepath.Join(tools, "rows.xlsx"))
			if err != nil {
				t.Fatal(err)
			}
			rows, err := encodetest.Rows("xlsx", book, []string{"InvoiceID"})
			if err != nil || len(rows) != 12000 {
				t.Errorf("the workbook has %d rows, want 12000: %v", len(rows), err)
			}
			key, err := os.ReadFile(filepath.Join(tools, "key.txt"))
			if err != nil {
				t.Fatal(err)
			}
			anonymous(t, d.Instance).with("Authorization: Bearer "+strings.TrimSpace(string(key))).
				do("GET /Queries/SO_Totals?Take=1", "").want(t, 200)
		})
	}
}

// TestPagesInBrowser checks all pages in Chromium for accessibility and for their width.
func TestPagesInBrowser(t *testing.T) {
	tools := clientstest.NodeModules(t, "browser")
	startTroubled(t).runBrowser(t, tools, "pages")
}
