package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// screenCells is the width of the terminal in cells.
const screenCells = 120

// everyday runs whctl on a terminal, as the admin of a service.
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
	cmd.Env = append(withoutEnv("NO_COLOR", "TERM", "LANG", "LC_ALL", "COLORFGBG"),
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		profile.EnvURL+"="+e.url,
		profile.EnvUser+"=admin",
		profile.EnvPassword+"="+daemontest.AdminPassword,
		profile.EnvConfig+"="+filepath.Join(e.dir, "config.toml"),
		"HOME="+e.dir,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(e.dir, "bus"))
	cmd.Dir = e.dir
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: screenCells})
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
		e.t.Fatalf("whctl %q: got exit code %d, screen %q; want 0 and only styles", args, code, plain)
	}
	return plain
}

// want runs a command line and matches its screen with each pattern.
func (e *everyday) want(line string, patterns ...string) string {
	e.t.Helper()
	return e.wantArgs(strings.Fields(line), patterns...)
}

// wantArgs is want for arguments with blanks.
func (e *everyday) wantArgs(args []string, patterns ...string) string {
	e.t.Helper()
	screen := e.run(args...)
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).MatchString(screen) {
			e.t.Errorf("whctl %q: want a match of %s on the screen:\n%s", args, pattern, screen)
		}
	}
	return screen
}

// until repeats a command line until its screen has a line.
func (e *everyday) until(text, line string) {
	e.t.Helper()
	args := strings.Fields(line)
	deadline := time.Now().Add(testTimeout)
	for !strings.Contains("\n"+e.run(args...), "\n"+text+"\n") {
		if time.Now().After(deadline) {
			e.t.Fatalf("whctl %s: does not print %s within %s", line, text, testTimeout)
		}
	}
}

// id returns the first short ID after a word in a screen.
func (e *everyday) id(screen, word string) string {
	e.t.Helper()
	pattern := regexp.MustCompile(`(?m)^.*\b` + word + `\b.* ([0-9a-f]{8}\.\.[0-9a-f]{4})\b`)
	match := pattern.FindStringSubmatch(screen)
	if match == nil {
		e.t.Fatalf("no ID after %s on the screen:\n%s", word, screen)
	}
	return match[1]
}

// TestEverydayJobs does twenty everyday jobs at the command line, driven as on a terminal: an ID on
// one screen is pasted into the next command.
func TestEverydayJobs(t *testing.T) {
	service := daemontest.Start(t, "--demo",
		"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", "720h")
	receiver := &everydayReceiver{}
	server := httptest.NewServer(receiver)
	defer server.Close()
	e := &everyday{t: t, url: service.URL, dir: t.TempDir()}

	working := e.setUp(server.URL)
	message := e.findFailure()
	receiver.works.Store(true)
	e.retryFailures(message)
	e.pause(working)
	e.queryRecords()
	e.showKeysAndRequests()
}

// everydayReceiver rejects messages to /bad until it works.
type everydayReceiver struct{ works atomic.Bool }

func (r *everydayReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	io.Copy(io.Discard, req.Body)
	if strings.HasPrefix(req.URL.Path, "/bad") && !r.works.Load() {
		w.Header().Set("Webhook-Delivery", "abort-message")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"missing member CustomerID"}`)
	}
}

// setUp creates a subscriber with a subscription that fails and one that works, and publishes events
// for the first one. It returns the ID of the other.
func (e *everyday) setUp(receiver string) (working string) {
	e.t.Helper()
	e.run("subscribers", "create", "ACME shop")
	e.run("subscriptions", "create", "ACME shop", "inventory.*",
		receiver+"/bad/erp/inventory/with/a/long/path/in", "--header", "X-Tenant: 7")
	e.run("subscriptions", "create", "ACME shop", "debtor.*", receiver+"/good")
	list := e.want("subscriptions list --event debtor.*",
		`^enabled +debtor\.\* +127\.0\.0\.1:\d+/good `)
	working = e.id(list, "debtor")
	e.want("subscriptions test "+working, "^the test message was received: 200 OK$")
	for range 3 {
		e.run("events", "publish", "inventory.updated",
			"--body", `{"InventoryID":"A1"}`, "--event-key", "A1")
	}
	e.until("3", "messages list --status failed --count")
	return working
}

// findFailure finds the endpoint that fails and the reason of the newest failure. It returns the ID
// of that message.
func (e *everyday) findFailure() (message string) {
	e.t.Helper()
	e.want("stats",
		`^127\.0\.0\.1:\d+/bad.*…?.*/in +█+ +0 delivered, 3 failed`,
		`^\d\d:\d\d  .*[▁█].*failed$`)
	list := e.want("messages list --status failed --key A1 --since 2h",
		`^Status +Event +Key +Endpoint +Tries +Response +Age +Message ID$`,
		`^failed +inventory\.updated +A1 .*1 of 2 +400 Bad Request +\d+[sm] +`+
			`[0-9a-f]{8}\.\.[0-9a-f]{4}$`)
	if !bytes.Contains(e.raw, []byte("\x1b[31mfailed\x1b[0m")) {
		e.t.Errorf("whctl messages list: a failure is not red in %q", e.raw)
	}
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > screenCells {
			e.t.Errorf("whctl messages list: %q has %d cells, the terminal %d", line, n, screenCells)
		}
	}

	message = e.id(list, "failed")
	e.want("messages show "+message,
		`^Status +failed$`,
		`^Text +\{"error":"missing member CustomerID"\}$`,
		`^Age +\d{4}-\d\d-\d\d .* ago\)$`,
		`^Body +\{"InventoryID":"A1"\}$`)
	e.want("messages show "+message+" --attempts",
		`^ +1 +400 Bad Request +\{"error":"missing`)
	condition := "Status=failed and EventName^=inventory."
	e.wantArgs([]string{"messages", "list", "--where", condition, "--count"}, `^3$`)
	return message
}

// retryFailures sends a message again, and then all that failed, after a look at the requests.
func (e *everyday) retryFailures(message string) {
	e.t.Helper()
	e.want("messages retry "+message+" --dry-run",
		`^POST http.*/Retry$`,
		`^dry run, nothing was changed: retry the message`)
	e.want("messages retry --status failed --endpoint /bad --dry-run",
		`^3 messages match`,
		`^POST http.*/Webhooks/Messages/Retry$`)
	e.want("messages retry "+message, `is due now$`)
	e.want("messages retry --status failed --event inventory.* --yes",
		`messages? (is|are) due now`)
	e.until("3", "messages list --status delivered --event inventory.* --count")
}

// pause pauses and resumes a subscription, and looks at the request of its deletion.
func (e *everyday) pause(subscription string) {
	e.t.Helper()
	e.want("subscriptions disable "+subscription, `^subscription disabled: debtor`)
	e.want("subscriptions list --status disabled", `^disabled +debtor\.\*`, `^1 row$`)
	start := subscription[:8]
	e.want("subscriptions enable "+start, `^subscription enabled: debtor`)
	e.want("subscriptions delete "+subscription+" --dry-run",
		`^DELETE http.*/Subscriptions/`+start, `\(1 request\)$`)
}

// queryRecords writes records to files, and computes an exact sum and groups.
func (e *everyday) queryRecords() {
	e.t.Helper()
	e.want("query SO_Totals --where InvoiceTotal>=1000 --order-by -InvoiceTotal --take 5 -o largest.csv",
		`^5 rows written to largest\.csv$`)
	e.want("query SO_Totals --take 5 -o some.xlsx", `^5 rows written to some\.xlsx$`)
	e.want("query SO_Totals --sum InvoiceTotal --where InvoiceTotal>=1000",
		`^SumInvoiceTotal +\d+\.\d+$`)
	e.want("query INMGT020POQty --by IN_LogicalID --sum Qty --order-by -Count --take 2",
		`^IN_LogicalID +Count +SumQty$`, `^2 of`)
	for name, start := range map[string]string{"largest.csv": "InvoiceID,InvoiceTotal,", "some.xlsx": "PK"} {
		wantPrefix(e.t, filepath.Join(e.dir, name), start)
	}
}

// showKeysAndRequests lists messages without colours, a new key, requests, and completions.
func (e *everyday) showKeysAndRequests() {
	e.t.Helper()
	e.want("messages list --no-color --take 1", "^1 of")
	if bytes.ContainsRune(e.raw, 0x1b) {
		e.t.Errorf("whctl messages list --no-color: got styles in %q", e.raw)
	}
	e.want("keys create nightly --role reader --expires 30d --secret-file key")
	e.want("keys list", `^Name +Role +Expires `, `^nightly +reader +in (29|30)d `)
	e.want("requests list --since 1h --status 2xx --take 3",
		`^Time \([A-Z+0-9-]+\) +Status +Method +Path +Took +User`, `^3 of`)
	e.want("__complete fish 4 whctl subscriptions list --subscriber A", "^ACME shop\t$")
}
