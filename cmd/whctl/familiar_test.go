package main

import (
	"strings"
	"testing"
)

// Words of other programs suggest the command or flag that does the same here.
func TestFamiliarWordsAreUnderstood(t *testing.T) {
	for line, want := range map[string]string{
		"kinds":                                "records?",
		"ls":                                   "records?",
		"get SO_Totals":                        "query?",
		"queries":                              "query?",
		"auth login":                           "login or whoami?",
		"context use prod":                     "profile?",
		"health":                               "doctor or stats?",
		"deliveries":                           "messages?",
		"webhooks list":                        "subscriptions?",
		"pause 1f0c":                           "subscriptions disable?",
		"resume 1f0c":                          "subscriptions enable?",
		"resend 01a1":                          "messages retry?",
		"watch":                                "listen or messages tail?",
		"logs":                                 "requests?",
		"emit invoice.paid":                    "events publish?",
		"trace D100512":                        "why?",
		"sync SO_Totals":                       "mirror?",
		"tokens":                               "keys?",
		"dashboard":                            "tui?",
		"changes status":                       "list?",
		"bill get":                             "show?",
		"bill edit":                            "update?",
		"subscriptions add":                    "create?",
		"subscriptions pause 1f0c":             "disable?",
		"subscriptions resume 1f0c":            "enable?",
		"keys revoke shop":                     "delete?",
		"messages resend 01a1":                 "retry?",
		"messages watch":                       "tail?",
		"query SO_Totals --limit 3":            "--take?",
		"query SO_Totals -L 3":                 "--take?",
		"query SO_Totals --sort InvoiceID":     "--order-by?",
		"query SO_Totals --group-by InvoiceID": "--by?",
		"query SO_Totals --columns InvoiceID":  "--fields?",
		"query SO_Totals -l InvoiceID=1":       "--where?",
		"query SO_Totals --expanded":           "--format vertical?",
		"query SO_Totals --follow":             "whctl follow?",
		"messages list --failed":               "--status failed?",
		"messages list --follow":               "whctl messages tail?",
		"messages list --after 2h":             "--since?",
		"requests list --failed":               "--errors?",
		"requests list --ip 10.0.0.7":          "--client?",
		"subscriptions create --condition Status":  "--when?",
		"subscriptions update 1f0c --disable":      "whctl subscriptions disable?",
		"subscriptions update 1f0c --enable":       "whctl subscriptions enable?",
		"subscriptions update 1f0c --target x":     "--to?",
		"subscriptions delete 1f0c --force":        "--yes?",
		"bill update --value 1":                    "--contents?",
		"mirror SO_Totals -o copy.db":              "--to?",
		"keys create shop --role reader -o secret": "--secret-file?",
		"login --hostname erp01":                   "--url?",
		"subscriptions create -H X-Shop:1":         "--header?",
		"subscriptions update 1f0c http://x":       "--to http://x?",
	} {
		got := invocation{}.run(t, strings.Fields(line)...)
		hint := "; did you mean " + want + " (see: "
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, hint) {
			t.Errorf("whctl %s: got %v; want exit code 2, stderr with %q", line, got, hint)
		}
	}
}
