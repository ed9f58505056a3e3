package rest_test

import (
	_ "embed"
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

//go:embed testdata/browser.js
var browserScript []byte

// TestPagesInBrowser does the work of an administrator in Chromium, by keyboard and without scripts:
// repairs a delivery, sends messages again, exports records and creates an API key. Then it checks
// all pages for accessibility and for their width.
func TestPagesInBrowser(t *testing.T) {
	tools := clientstest.NodeModules(t, "browser")
	chromium := clientstest.Tool(t, "chromium")
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

	script := filepath.Join(tools, "browser.js")
	if err := os.WriteFile(script, browserScript, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), clientstest.Tool(t, "node"), script)
	cmd.Dir = tools
	cmd.Env = append(os.Environ(), "URL="+i.URL, "PASSWORD="+daemontest.AdminPassword, "RIGHT="+right.url+"/shop",
		"CHROMIUM="+chromium)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	waitFor(t, "the messages that are sent again", func() bool { return right.got.Load() == 6 })
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
	anonymous(t, i).with("Authorization: Bearer "+strings.TrimSpace(string(key))).
		do("GET /Queries/SO_Totals?Take=1", "").want(t, 200)
}
