package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tableCommands are the commands that print tables of the service's resources.
var tableCommands = []string{
	"messages list",
	"messages list --fields Status,MessageID,AddedDateTime",
	"messages show " + messageID[:8] + ".." + messageID[32:],
	"messages show " + messageID + " --attempts",
	"subscriptions list",
	"subscribers list",
	"subscribers list --full",
	"keys list",
	"keys show nightly",
	"requests list",
	"stats",
	"stats --queues",
	"why D100512",
}

// TestTablesOnTerminal compares the tables with the golden file: in a pipe, where nothing is
// truncated, and on terminals of two widths. Styles are shown as <...>.
func TestTablesOnTerminal(t *testing.T) {
	dir := writeConfig(t, "profile = 'prod'\n[profiles.prod]\ntime_zone = 'Europe/Vienna'\n")
	screens := []struct {
		name string
		inv  invocation
		flag string
	}{
		{name: "pipe", flag: "--table"},
		{
			name: "pipe, CLICOLOR_FORCE",
			inv:  invocation{env: map[string]string{"CLICOLOR_FORCE": "1"}},
			flag: "--table",
		},
		{name: "120 cells", inv: invocation{width: 120, terminal: true, colours: true}},
		{
			name: "80 cells, NO_COLOR",
			inv: invocation{
				width:    80,
				terminal: true,
				colours:  true,
				env:      map[string]string{"NO_COLOR": "1"},
			},
		},
	}
	var text strings.Builder
	for _, line := range tableCommands {
		for _, screen := range screens {
			args := strings.Fields(line + " " + screen.flag)
			isQuery := strings.Contains(line, " list") && args[0] != "keys"
			if !screen.inv.terminal && isQuery {
				args = append(args, "--take", "50") // the default on a terminal
			}
			screen.inv.handler = serveListed
			screen.inv.config = dir
			got := screen.inv.run(t, args...)
			if got.code != 0 {
				t.Errorf("whctl %s, %s: got %v; want exit code 0", line, screen.name, got)
			}
			isColoured := screen.inv.colours || screen.inv.env["CLICOLOR_FORCE"] != ""
			isPlain := !isColoured || screen.inv.env["NO_COLOR"] != ""
			if isPlain && strings.Contains(got.stdout, "\x1b") {
				t.Errorf("whctl %s, %s: got styles in %q", line, screen.name, got.stdout)
			}
			fmt.Fprintf(&text, "=== whctl %s (%s)\n%s--\n%s", line, screen.name, got.stdout, got.stderr)
		}
	}

	style := regexp.MustCompile("\x1b\\[([0-9;]*)m")
	shown := style.ReplaceAllString(text.String(), "<$1>")
	shown = strings.ReplaceAll(shown, "<0>", "<>")
	if strings.Contains(shown, "\x1b") {
		t.Error("the text of an answer reaches the terminal as an escape sequence")
	}
	golden(t, "terminal", shown)
}

// TestShortIDs checks the conditions for shortened IDs and starts of IDs. A start that is so short
// that it can be a name is the name of a subscriber.
func TestShortIDs(t *testing.T) {
	for args, want := range map[string]string{
		"messages show 019f1972..faba":      "MessageIDEndsWith=faba&MessageIDStartsWith=019f1972",
		"messages show 019f..faba":          "MessageIDEndsWith=faba&MessageIDStartsWith=019f",
		"messages show 019f":                "MessageIDStartsWith=019f",
		"messages show 019f1972-8d3e…":      "MessageIDStartsWith=019f1972-8d3e",
		"subscriptions show 8ebf":           "RecIDStartsWith=8ebf",
		"subscribers show beef":             "Name=beef",
		"subscribers show 576e2895":         "RecIDStartsWith=576e2895",
		"subscribers show 576e2895..334a":   "RecIDEndsWith=334a&RecIDStartsWith=576e2895",
		"subscribers delete 576e..334a --y": "RecIDEndsWith=334a&RecIDStartsWith=576e",
	} {
		var sent string // conditions of the first request
		record := func(w http.ResponseWriter, r *http.Request) {
			if sent == "" {
				members := r.URL.Query()
				for _, name := range []string{"Fields", "Strict", "Take", "format"} {
					members.Del(name)
				}
				sent = members.Encode()
			}
			serveListed(w, r)
		}
		got := invocation{handler: record}.run(t, strings.Fields(args)...)
		if sent != want {
			t.Errorf("whctl %s: sent the conditions %s, want %s; %v", args, sent, want, got)
		}
	}
}

// TestFormatOfFileName checks that the name of a file selects the format, unless a flag does. For
// other names it is the configured format, here vertical.
func TestFormatOfFileName(t *testing.T) {
	inv := invocation{handler: rows(1, d1), env: map[string]string{"WHCTL_FORMAT": "vertical"}}
	for args, want := range map[string]string{
		"x":                "InvoiceID     D1",
		"x.csv":            "InvoiceID,",
		"x.log --tsv":      "InvoiceID\t",
		"x.csv --excel":    "\ufeffInvoiceID",
		"x.tsv":            "InvoiceID\t",
		"x.json":           "[\n{",
		"x.JSON":           "[\n{",
		"x.json --csv":     "InvoiceID,",
		"x.json --jq .[0]": `{"`,
		"x.ndjson":         "{",
		"x.xlsx":           "PK",
		"x.XLSX":           "PK",
	} {
		name, flags, _ := strings.Cut(args, " ")
		path := filepath.Join(t.TempDir(), name)
		line := []string{"query", "SO_Totals", "--fields", "InvoiceID,InvoiceTotal", "-o", path}
		got := inv.run(t, append(line, strings.Fields(flags)...)...)
		if got.code != 0 {
			t.Errorf("whctl query -o %s: got %v; want exit code 0", args, got)
		}
		wantPrefix(t, path, want)
	}
}

func wantPrefix(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), want) {
		t.Errorf("%s holds %.40q, %v; want %q", path, text, err, want)
	}
}

// TestSubscriptionStates checks that on a terminal, enabled subscriptions have the state of their
// queue, in the words of the screens. Programs get the stored value, without another request.
func TestSubscriptionStates(t *testing.T) {
	const noRequest = "no request" // instead of a reply with statistics
	queue := func(members string) string {
		return fmt.Sprintf(`{"Queues":[{"SubscriptionID":%q,"IsEnabled":true,%s}]}`,
			subscriptionID, members)
	}
	open := queue(`"Breaker":"open"`)
	failing := `,"FailingSince":"` + at(9) + `"`
	for _, c := range []struct {
		args     string
		programs bool   // standard output is no terminal
		stats    string // reply of the service; empty without the role admin
		fails    bool   // the subscription itself is known to fail
		want     string
	}{
		{args: "list", stats: queue(`"Breaker":"open"` + failing), want: "breaker open"},
		{args: "list", stats: queue(`"Breaker":"closed"` + failing), want: "failing"},
		{args: "list", stats: queue(`"Breaker":"closed"`), want: "enabled"},
		{args: "list", want: "enabled"},
		{args: "list --subscriber " + subscriberID, stats: open, want: "breaker open"},
		{args: "list --subscriber " + subscriberID, fails: true, want: "failing"},
		{
			args:  "show " + subscriptionID + " --subscriber " + subscriberID,
			stats: open,
			want:  "breaker open",
		},
		{args: "list --fields IsEnabled,EventName", stats: noRequest, want: "true"},
		{args: "list --table --take 50", programs: true, stats: noRequest, want: "true"},
	} {
		handler := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasSuffix(r.URL.Path, subscriberID+"/Subscriptions"):
				since := ""
				if c.fails {
					since = at(9)
				}
				fmt.Fprintf(w, "[%s]", strings.Join(listedSubscriptions(since), ","))
			case r.URL.Path != "/Webhooks/Stats":
				serveListed(w, r)
			case c.stats == noRequest:
				t.Errorf("whctl subscriptions %s requests the statistics", c.args)
			case c.stats == "":
				http.Error(w, "", http.StatusForbidden)
			default:
				fmt.Fprint(w, c.stats)
			}
		}
		inv := invocation{terminal: !c.programs, width: 120, handler: handler}
		got := inv.run(t, strings.Fields("subscriptions "+c.args)...)

		pattern := `\b` + c.want + ` .*inventory\.\*|inventory\.\*.* ` + c.want + `\b`
		if strings.HasPrefix(c.args, "show") { // a line for each field
			pattern = `(?m)^State +` + c.want + `$`
		}
		if got.code != 0 || !regexp.MustCompile(pattern).MatchString(got.stdout) {
			t.Errorf("whctl subscriptions %s: got %v; want a line with %s", c.args, got, pattern)
		}
	}
}

// TestAttemptsAtOtherEndpoint checks the notice that the shown URL may not be that of attempts
// before the last change of the subscription.
func TestAttemptsAtOtherEndpoint(t *testing.T) {
	attempt := func(number int, minutes int64) string {
		return fmt.Sprintf(`{"MessageID":%q,"SubscriptionID":%q,"ItemNo":%d,"Message":"timeout",`+
			`"LastSavedDateTime":%q,"Duration":"PT5S","Status":2,"URL":"https://new.example/in"}`,
			messageID, subscriptionID, number, at(minutes))
	}
	for changed, want := range map[int64]string{
		30: "2 attempts were made before the subscription was last changed, perhaps to another URL: " +
			"only the URL of the last attempt is stored",
		90: "", // before all attempts
		5:  "", // after all attempts
	} {
		serve := func(w http.ResponseWriter, r *http.Request) {
			text := pageOf(attempt(3, 10), attempt(2, 40), attempt(1, 50))
			switch r.URL.Path {
			case "/Webhooks/Messages":
				text = pageOf(listedMessages()[0])
			case "/Webhooks/Subscriptions":
				text = pageOf(fmt.Sprintf(`{"RecID":%q,"LastSavedDateTime":%q}`, subscriptionID, at(changed)))
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, text)
		}
		got := invocation{handler: serve}.run(t, "messages", "show", messageID, "--attempts")
		isNoted := strings.Contains(got.stderr, want) && (want != "" || !strings.Contains(got.stderr, "attempts were made"))
		if got.code != 0 || !isNoted {
			t.Errorf("changed %d minutes ago: got %v, want the notice %q", changed, got, want)
		}
	}
}
