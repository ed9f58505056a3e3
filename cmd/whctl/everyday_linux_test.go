package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// everyday runs whctl on a terminal of 120 cells, as a user of a service.
type everyday struct {
	t   *testing.T
	url string
	dir string
	raw []byte // the last screen, with styles
}

// run returns the screen, without styles. It fails if the command does.
func (e *everyday) run(args ...string) string {
	e.t.Helper()
	cmd := process(e.t, e.url, args...)
	cmd.Env = append(withoutEnv("NO_COLOR", "TERM", "LANG", "LC_ALL", "COLORFGBG"), "TERM=xterm-256color", "LANG=C.UTF-8", profile.EnvURL+"="+e.url, profile.EnvUser+"=admin",
		profile.EnvPassword+"="+daemontest.AdminPassword, profile.EnvConfig+"="+filepath.Join(e.dir, "config.toml"), "HOME="+e.dir, "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(e.dir, "bus"))
	cmd.Dir = e.dir
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		e.t.Fatal(err)
	}
	defer screen.Close()
	out, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end on Linux
		e.t.Fatal(err)
	}
	e.raw = out
	plain := string(bytes.ReplaceAll(styles.ReplaceAll(out, nil), []byte("\r"), nil))
	if code := exitOf(e.t, cmd.Wait()); code != 0 || strings.Contains(plain, "\x1b") {
		e.t.Fatalf("%q: exit %d, screen %q", args, code, plain)
	}
	return plain
}

// want runs a command and matches its screen with each pattern.
func (e *everyday) want(line []string, patterns ...string) string {
	e.t.Helper()
	screen := e.run(line...)
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).MatchString(screen) {
			e.t.Errorf("%q does not match %s:\n%s", line, pattern, screen)
		}
	}
	return screen
}

// until repeats a command until its screen has a line.
func (e *everyday) until(line string, args ...string) {
	e.t.Helper()
	for deadline := time.Now().Add(testTimeout); !strings.Contains("\n"+e.run(args...), "\n"+line+"\n"); {
		if time.Now().After(deadline) {
			e.t.Fatalf("%q does not print %s", args, line)
		}
	}
}

// id returns the first short ID after a word in a screen.
func (e *everyday) id(screen, word string) string {
	e.t.Helper()
	found := regexp.MustCompile(`(?m)^.*\b` + word + `\b.* ([0-9a-f]{8}\.\.[0-9a-f]{4})\b`).FindStringSubmatch(screen)
	if found == nil {
		e.t.Fatalf("no ID after %s:\n%s", word, screen)
	}
	return found[1]
}

// Twenty everyday jobs at the command line, driven as on a terminal: an ID on one screen is
// pasted into the next command.
func TestEverydayJobs(t *testing.T) {
	service := daemontest.Start(t, "--demo", "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", "720h")
	var works atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/bad") && !works.Load() {
			w.Header().Set("Webhook-Delivery", "abort-message")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"missing member CustomerID"}`)
		}
	}))
	defer receiver.Close()
	e := &everyday{t: t, url: service.URL, dir: t.TempDir()}
	words := strings.Fields

	// Set up: a subscriber, subscriptions with a header and a test, events.
	e.run("subscribers", "create", "ACME shop")
	e.run("subscriptions", "create", "ACME shop", "inventory.*", receiver.URL+"/bad/erp/inventory/with/a/long/path/in", "--header", "X-Tenant: 7")
	e.run("subscriptions", "create", "ACME shop", "debtor.*", receiver.URL+"/good")
	good := e.id(e.want(words("subscriptions list --event debtor.*"), `^enabled +debtor\.\* +127\.0\.0\.1:\d+/good `), "debtor")
	e.want([]string{"subscriptions", "test", good}, "^the test message was received: 200 OK$")
	for range 3 {
		e.run("events", "publish", "inventory.updated", "--body", `{"InventoryID":"A1"}`, "--event-key", "A1")
	}
	e.until("3", "messages", "list", "--status", "failed", "--count")

	// Which endpoint fails, and why did the newest delivery fail?
	e.want(words("stats"), `^127\.0\.0\.1:\d+/bad.*…?.*/in +█+ +0 delivered, 3 failed`, `^\d\d:\d\d  .*[▁█].*failed$`)
	list := e.want(words("messages list --status failed --key A1 --since 2h"), `^Status +Event +Key +Endpoint +Tries +Last answer +Age +Message ID$`, `^failed +inventory\.updated +A1 .*1 of 2 +400 Bad Request +\d+[sm] +[0-9a-f]{8}\.\.[0-9a-f]{4}$`)
	if !bytes.Contains(e.raw, []byte("\x1b[31mfailed\x1b[0m")) {
		t.Errorf("a failure has no colour: %q", e.raw)
	}
	for line := range strings.Lines(list) {
		if utf8.RuneCountInString(line) > 121 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
	message := e.id(list, "failed")
	e.want([]string{"messages", "show", message}, `^Status +failed$`, `^Text +\{"error":"missing member CustomerID"\}$`, `^Age +\d{4}-\d\d-\d\d .* ago\)$`, `^Body +\{"InventoryID":"A1"\}$`)
	e.want([]string{"messages", "show", message, "--attempts"}, `^ +1 +400 Bad Request +\{"error":"missing`)
	e.want([]string{"messages", "list", "--where", "Status=failed and EventName^=inventory.", "--count"}, `^3$`)

	// Retry: first one, then all, after a look at the request.
	e.want([]string{"messages", "retry", message, "--dry-run"}, `^POST http.*/Retry$`, `^dry run, nothing was changed: retry the message`)
	e.want(words("messages retry --status failed --endpoint /bad --dry-run"), `^3 messages match`, `^POST http.*/Webhooks/Messages/Retry$`)
	works.Store(true)
	e.want([]string{"messages", "retry", message}, `is due now$`)
	e.want(words("messages retry --status failed --event inventory.* --yes"), `messages? (is|are) due now`)
	e.until("3", "messages", "list", "--status", "delivered", "--event", "inventory.*", "--count")

	// Pause and resume a subscription; see the request of its deletion.
	e.want([]string{"subscriptions", "disable", good}, `^subscription disabled: debtor`)
	e.want(words("subscriptions list --status disabled"), `^disabled +debtor\.\*`, `^1 row$`)
	e.want([]string{"subscriptions", "enable", good[:8]}, `^subscription enabled: debtor`)
	e.want([]string{"subscriptions", "delete", good, "--dry-run"}, `^DELETE http.*/Subscriptions/`+good[:8], `\(1 request\)$`)

	// Records: the largest invoices to files, an exact sum, groups.
	e.want(words("query SO_Totals --where InvoiceTotal>=1000 --order-by -InvoiceTotal --take 5 -o largest.csv"), `^5 rows written to largest\.csv$`)
	e.want(words("query SO_Totals --take 5 -o some.xlsx"), `^5 rows written to some\.xlsx$`)
	e.want(words("query SO_Totals --sum InvoiceTotal --where InvoiceTotal>=1000"), `^SumInvoiceTotal +\d+\.\d+$`)
	e.want(words("query INMGT020POQty --by IN_LogicalID --sum Qty --order-by -Count --take 2"), `^IN_LogicalID +Count +SumQty$`, `^2 of`)
	for name, start := range map[string]string{
		"largest.csv": "InvoiceID,InvoiceTotal,",
		"some.xlsx":   "PK",
	} {
		if text, err := os.ReadFile(filepath.Join(e.dir, name)); err != nil || !bytes.HasPrefix(text, []byte(start)) {
			t.Errorf("%s: %.40q, %v", name, text, err)
		}
	}

	// Keys and requests.
	e.want(words("messages list --no-color --take 1"), "^1 of")
	if bytes.ContainsRune(e.raw, 0x1b) {
		t.Errorf("--no-color has styles: %q", e.raw)
	}
	e.run(words("keys create nightly --role reader --expires 30d --secret-file key")...)
	e.want(words("keys list"), `^Name +Role +Expires `, `^nightly +reader +in (29|30)d `)
	e.want(words("requests list --since 1h --status 2xx --take 3"), `^Time \([A-Z+0-9-]+\) +Status +Method +Path +Took +User`, `^3 of`)
	e.want(words("__complete fish 4 whctl subscriptions list --subscriber A"), "^ACME shop\t$")
}
