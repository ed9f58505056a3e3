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

// at returns a time of the service's resources, some minutes before the time of the tests.
func at(minutes int64) string { return fmt.Sprintf("/Date(%d+0000)/", 1783501811000-minutes*60000) }

const (
	subscriberID   = "576e2895-6354-4acc-8537-b5f4c05a334a"
	subscriptionID = "8ebfd694-f188-48a3-addc-4fe59a96c60e"
	messageID      = "019f1972-8d3e-74da-88ca-95a74c78faba"
)

// listed has the replies to the requests of the commands, by path.
func listed() map[string]string {
	message := func(id string, status, retries int, members string) string {
		return fmt.Sprintf(`{"MessageID":%q,"SubscriberID":%q,"SubscriptionID":%q,"EventName":"inventory.updated","URL":"http://erp.acme.example/hooks/inventory/very/long/path/in","Body":"{\"ID\":\"D15\"}","ItemNo":137,"Status":%d,"Retries":%d,"MaxRetries":9,"AddedDateTime":%q,"LastSavedDateTime":%q%s}`,
			id, subscriberID, subscriptionID, status, retries, at(130), at(3), members)
	}
	failed := message(messageID, 2, 2, `,"LastMessageResponseHTTPCode":400,"LastMessageResponseMessage":"Bad Request","NextAttemptDateTime":"`+at(-5)+`"`)
	page := func(rows ...string) string {
		return fmt.Sprintf(`{"Offset":0,"Total":%d,"Results":[%s],"Meta":{},"ResponseStatus":{}}`, len(rows), strings.Join(rows, ","))
	}
	subscription := func(event, url string, enabled bool, members string) string {
		return fmt.Sprintf(`{"RecID":%q,"SY_WebhookSubscriber_RecID":%q,"EventName":%q,"URL":%q,"ItemNo":1,"LastSavedDateTime":%q,"RowHash":"AA==","IsEnabled":%t,"Ordered":false%s}`, subscriptionID, subscriberID, event, url, at(60*72), enabled, members)
	}
	return map[string]string{
		"/Webhooks/Messages": page(failed,
			message("019f1972-8d3e-7a11-88ca-95a74c780001", 1, 0, `,"LastMessageResponseHTTPCode":200,"LastMessageResponseMessage":"OK"`),
			message("019f1972-8d3e-7a11-88ca-95a74c780002", 0, 0, `,"NextAttemptDateTime":"`+at(130)+`"`),
			message("019f1972-8d3e-7a11-88ca-95a74c780003", 3, 10, `,"LastMessageResponseMessage":"dial tcp 10.2.0.9:8080: connect: connection refused"`)),
		"/Webhooks/Messages/Responses": page(fmt.Sprintf(`{"MessageID":%q,"ItemNo":3,"HTTPCode":400,"Message":"Bad Request","LastSavedDateTime":%q,"Duration":"PT0.0437S","Status":2,"URL":"http://erp.acme.example/hooks/inventory/very/long/path/in","AnswerText":"{\n  \"error\": \"missing member \u001b[31mCustomerID\"\n}"}`, messageID, at(3))),
		"/Webhooks/Subscriptions": page(subscription("inventory.*", "http://erp.acme.example/hooks/inventory/very/long/path/in?token=secret", true, ""),
			subscription("debtor.*", "https://10.2.0.9:8080/notify", false, `,"DisabledReason":"410 Gone"`)),
		"/Webhooks/Why": fmt.Sprintf(`{"Key":"D100512","Steps":[{"At":%q,"Step":"attempt","Text":"1: 400 Bad Request, 44ms"},
			{"Step":"no event","Text":"no event with this key is stored: none was published, no subscription received it, or its messages were deleted"}]}`, at(3)),
		"/Webhooks/Subscribers": page(fmt.Sprintf(`{"RecID":%q,"Name":"ACME shop","IsEnabled":true,"ItemNo":1,"LastSavedDateTime":%q,"RowHash":"AA=="}`, subscriberID, at(60*30))),
		"/ApiKeys": `[{"KeyID":"dfa00804-7f4f-4c2d-9f11-bed2d481fc18","Name":"nightly","Role":"reader","AddedDateTime":"2026-05-01T08:00:00","ExpiryDateTime":"2026-07-05T00:00:00","LastUsedDateTime":"2026-07-04T22:00:00"},
			{"KeyID":"e1a00804-7f4f-4c2d-9f11-bed2d481fc18","Name":"erp","Role":"publisher","AddedDateTime":"2026-07-01T08:00:00","ExpiryDateTime":"2026-10-05T00:00:00"}]`,
		"/Logs": page(`{"DateTime":"2026-07-08T09:09:57.1234567","StatusCode":200,"HttpMethod":"GET","PathInfo":"/Queries/SO_Totals","RequestDuration":"PT0.0123S","UserAuthId":"ann","IpAddress":"10.0.0.7"}`,
			`{"DateTime":"2026-07-08T09:09:51.1234567","StatusCode":503,"HttpMethod":"POST","PathInfo":"/Webhooks/Events","RequestDuration":"PT1M2.5S","UserAuthId":"erp","IpAddress":"10.0.0.8"}`),
		"/Webhooks/Stats": fmt.Sprintf(`{"ServerDateTime":%q,"SinceDateTime":%q,"Window":"PT2H","Totals":{"Events":1204,"Messages":4020,"Delivered":4000,"Failed":17,"GivenUp":3},"SuccessRate":0.99502,"Latency":{"P50":"PT0.012S","P95":"PT3.5S","P99":"PT14S"},
			"Minutes":{"From":%q,"Delivered":[%s],"Failed":[%s],"GivenUp":[%s]},"Depth":{"CountedDateTime":%q,"NotSent":3,"RetryPending":12,"OldestDateTime":%q},"InHand":{"InFlight":2,"OpenBreakers":1},"Subscriptions":3,"Disabled":1,"QueueWindow":"PT1H",
			"Queues":[{"URL":"https://10.2.0.9:8080/notify","EventName":"debtor.*","Breaker":"open","Failed":14,"GivenUp":3,"Pending":12},{"URL":"http://erp.acme.example/hooks/inventory/very/long/path/in","EventName":"inventory.*","Breaker":"closed","Delivered":4000,"Failed":3,"Pending":3}]}`,
			at(0), at(60*24*9), at(119), minutes(func(i int) int { return i * 3 / 5 }), minutes(func(i int) int { return i % 7 / 6 }), minutes(func(int) int { return 0 }), at(0), at(130)),
	}
}

// minutes returns the counts of two hours.
func minutes(count func(int) int) string {
	var all []string
	for i := range 120 {
		all = append(all, fmt.Sprint(count(i)))
	}
	return strings.Join(all, ",")
}

func serveListed(w http.ResponseWriter, r *http.Request) {
	text, known := listed()[r.URL.Path]
	if r.URL.Path == "/Webhooks/Messages" && r.URL.Query().Get("MessageID"+"StartsWith")+r.URL.Query().Get("MessageID") != "" { // one message
		text = regexp.MustCompile(`(?s)\},\{.*\}\]`).ReplaceAllString(text, "}]")
	}
	if !known {
		http.Error(w, r.URL.Path, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, text)
}

// The tables of the service's resources: as programs get them, which is as they were on
// terminals, too, before there were views, and on terminals of two widths. Styles are shown
// as <...>.
func TestTablesOnTerminal(t *testing.T) {
	var text strings.Builder
	dir := writeConfig(t, "profile = 'prod'\n[profiles.prod]\ntime_zone = 'Europe/Vienna'\n")
	for _, line := range []string{
		"messages list", "messages list --fields Status,MessageID,AddedDateTime", "messages show " + messageID[:8] + ".." + messageID[32:], "messages show " + messageID + " --attempts",
		"subscriptions list", "subscribers list", "subscribers list --full", "keys list", "keys show nightly", "requests list", "stats", "stats --queues", "why D100512",
	} {
		args := strings.Fields(line)
		for _, c := range []struct {
			name string
			inv  invocation
			args []string
		}{
			{name: "before", inv: invocation{width: 120}, args: []string{"--table"}},
			{name: "120 cells", inv: invocation{width: 120, terminal: true, colours: true}},
			{
				name: "80 cells, NO_COLOR",
				inv:  invocation{width: 80, terminal: true, colours: true, env: map[string]string{"NO_COLOR": "1"}},
			},
		} {
			c.inv.handler = serveListed
			c.inv.config = dir
			isLimited := strings.Contains(line, " list") && args[0] != "keys"
			if c.name == "before" && isLimited {
				c.args = append(c.args, "--take", "50")
			}
			if strings.HasPrefix(line, "keys show") {
				c.inv.handler = func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, strings.TrimPrefix(strings.Split(listed()["/ApiKeys"], ",\n")[0], "["))
				}
			}
			got := c.inv.run(t, append(args, c.args...)...)
			if got.code != 0 || c.name != "120 cells" && strings.Contains(got.stdout, "\x1b") {
				t.Errorf("%s, %s: %+v", line, c.name, got)
			}
			fmt.Fprintf(&text, "=== whctl %s (%s)\n%s--\n%s", line, c.name, got.stdout, got.stderr)
		}
	}
	shown := strings.ReplaceAll(regexp.MustCompile("\x1b\\[([0-9;]*)m").ReplaceAllString(text.String(), "<$1>"), "<0>", "<>")
	if strings.Contains(shown, "\x1b") {
		t.Error("the text of an answer reaches the terminal as an escape sequence")
	}
	golden(t, "terminal", shown)
}

// Short IDs and starts of IDs are accepted, a number of characters that can be a name is one
// of a subscriber.
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
		var sent string
		invocation{handler: func(w http.ResponseWriter, r *http.Request) {
			if sent == "" {
				members := r.URL.Query()
				for _, name := range []string{"Fields", "Strict", "Take", "format"} {
					members.Del(name)
				}
				sent = members.Encode()
			}
			serveListed(w, r)
		}}.run(t, strings.Fields(args)...)
		if sent != want {
			t.Errorf("%s: %s, want %s", args, sent, want)
		}
	}
}

// The name of a file selects the format, unless one is given.
func TestFormatOfFileName(t *testing.T) {
	for args, want := range map[string]string{
		"x.json": "[\n{", "x.JSON": "[\n{", "x.ndjson": "{", "x.csv": "InvoiceID,", "x.tsv": "InvoiceID\t", "x.xlsx": "PK", "x.XLSX": "PK", "x": "InvoiceID,",
		"x.json --csv": "InvoiceID,", "x.json --jq .[0]": `{"`, "x.csv --excel": "\ufeffInvoiceID",
	} {
		words := strings.Fields(args)
		path := filepath.Join(t.TempDir(), words[0])
		got := invocation{handler: rows(1, d1), env: map[string]string{"WHCTL_FORMAT": "vertical"}}.run(t, append([]string{"query", "SO_Totals", "--fields", "InvoiceID,InvoiceTotal", "-o", path}, words[1:]...)...)
		if words[0] == "x" { // the configured format
			want = "InvoiceID     D1"
		}
		wantPrefix(t, path, want)
		if got.code != 0 {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func wantPrefix(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), want) {
		t.Errorf("%s holds %.40q, %v; want %q", path, text, err, want)
	}
}

// On a terminal, enabled subscriptions have the state of their queue, in the words of the
// screens. Programs get the stored value, without another request.
func TestSubscriptionStates(t *testing.T) {
	queue := func(members string) string {
		return fmt.Sprintf(`{"Queues":[{"SubscriptionID":%q,"IsEnabled":true%s}]}`, subscriptionID, members)
	}
	for _, c := range []struct {
		args     []string
		terminal bool
		stats    string // empty without the role admin
		want     string
	}{
		{
			args:     []string{"list"},
			terminal: true,
			stats:    queue(`,"Breaker":"open","FailingSince":"` + at(9) + `"`),
			want:     "breaker open",
		},
		{
			args:     []string{"list"},
			terminal: true,
			stats:    queue(`,"Breaker":"closed","FailingSince":"` + at(9) + `"`),
			want:     "failing",
		},
		{args: []string{"list"}, terminal: true, stats: queue(`,"Breaker":"closed"`), want: "enabled"},
		{args: []string{"list"}, terminal: true, want: "enabled"},
		{
			args:     []string{"list", "--subscriber", subscriberID},
			terminal: true,
			stats:    queue(`,"Breaker":"open"`),
			want:     "breaker open",
		},
		{
			args:     []string{"list", "--subscriber", subscriberID},
			terminal: true,
			want:     "failing",
		}, // as the subscription has it
		{
			args:     []string{"show", subscriptionID, "--subscriber", subscriberID},
			terminal: true,
			stats:    queue(`,"Breaker":"open"`),
			want:     "breaker open",
		},
		{args: []string{"list", "--fields", "IsEnabled,EventName"}, terminal: true, stats: "unexpected", want: "true"},
		{args: []string{"list", "--table", "--take", "50"}, stats: "unexpected", want: "true"},
	} {
		got := invocation{terminal: c.terminal, width: 120, handler: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, subscriberID+"/Subscriptions"): // of one subscriber
				w.Header().Set("Content-Type", "application/json")
				rows := listed()["/Webhooks/Subscriptions"]
				if c.want == "failing" {
					rows = strings.Replace(rows, `"IsEnabled":true`, `"IsEnabled":true,"FailingSince":"`+at(9)+`"`, 1)
				}
				fmt.Fprint(w, rows[strings.Index(rows, "["):strings.Index(rows, "]")+1])
			case r.URL.Path != "/Webhooks/Stats":
				serveListed(w, r)
			case c.stats == "unexpected":
				t.Errorf("%s: request of the statistics", c.args)
			case c.stats == "":
				http.Error(w, "", http.StatusForbidden)
			default:
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, c.stats)
			}
		}}.run(t, append([]string{"subscriptions"}, c.args...)...)
		line := regexp.MustCompile(`(?m)^.*` + c.want + ` .*$`).FindString(got.stdout)
		if got.code != 0 || c.args[0] == "list" && !strings.Contains(line, "inventory.*") || line == "" && !strings.Contains(got.stdout, c.want+"\n") {
			t.Errorf("%s: no %s in %+v", c.args, c.want, got)
		}
	}
}
