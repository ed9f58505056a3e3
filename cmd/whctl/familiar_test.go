package main

import (
	"reflect"
	"strings"
	"testing"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Words of other programs with one meaning are understood, in every place where the own ones are.
func TestFamiliarWordsAreUnderstood(t *testing.T) {
	for line, equivalent := range map[string]string{
		"messages ls":                              "messages list",
		"messages get":                             "messages list",
		"messages get 01a1":                        "messages show 01a1",
		"get messages":                             "messages list",
		"get message 01a1":                         "messages show 01a1",
		"-o x.json get messages":                   "messages list -o x.json",
		"get hooks":                                "subscriptions list",
		"describe subscription 1f0c":               "subscriptions show 1f0c",
		"delete subscription 1f0c":                 "subscriptions delete 1f0c",
		"rm key nightly":                           "keys delete nightly",
		"create subscriber shop":                   "subscribers create shop",
		"edit subscription 1f0c --to x":            "subscriptions update 1f0c --to x",
		"get SO_Totals":                            "query SO_Totals",
		"explain SO_Totals":                        "records SO_Totals",
		"kind view SO_Totals":                      "records SO_Totals",
		"record list SO_Totals":                    "query SO_Totals",
		"records SO_Totals --limit 5":              "query SO_Totals --take 5",
		"kind list":                                "records",
		"requests --since 1h":                      "requests list --since 1h",
		"requests --errors":                        "requests list --errors",
		"requests --level error":                   "requests list --errors",
		"messages --status failed":                 "messages list --status failed",
		"logs":                                     "requests list",
		"logs --since=1h":                          "requests list --since 1h",
		"log list --level error":                   "requests list --errors",
		"logs tail":                                "requests tail",
		"get attempts 01a1":                        "messages show 01a1 --attempts",
		"messages attempts 01a1":                   "messages show 01a1 --attempts",
		"create event invoice.paid {}":             "events publish invoice.paid {}",
		"health":                                   "doctor",
		"healthz":                                  "doctor",
		"status":                                   "doctor",
		"query SO_Totals --descending":             "query SO_Totals --desc",
		"query SO_Totals --noheader":               "query SO_Totals --no-headers",
		"describe SO_Totals":                       "records SO_Totals",
		"records ls":                               "records",
		"records describe SO_Totals":               "records SO_Totals",
		"show tables":                              "records",
		"kinds":                                    "records",
		"api-resources":                            "records",
		"count SO_Totals":                          "query SO_Totals --count",
		"export SO_Totals -o x.csv":                "query SO_Totals -o x.csv",
		"auth login":                               "login",
		"auth status":                              "whoami",
		"contexts":                                 "profile",
		"context use prod":                         "profile use prod",
		"config get-contexts":                      "profile list",
		"config use-context prod":                  "profile use prod",
		"config view":                              "config show",
		"deliveries":                               "messages",
		"hooks pause 1f0c":                         "subscriptions disable 1f0c",
		"subscriptions resume 1f0c":                "subscriptions enable 1f0c",
		"subscriptions add":                        "subscriptions create",
		"retry 01a1":                               "messages retry 01a1",
		"retry message 01a1":                       "messages retry 01a1",
		"messages rerun 01a1":                      "messages retry 01a1",
		"messages watch":                           "messages tail",
		"tail requests":                            "requests tail",
		"publish invoice.paid --data {}":           "events publish invoice.paid --body {}",
		"emit invoice.paid -d {}":                  "events publish invoice.paid --body {}",
		"trigger invoice.paid --data {}":           "trigger invoice.paid --body {}",
		"tokens revoke shop":                       "keys delete shop",
		"users passwd ann":                         "users update ann --new-password",
		"passwd ann":                               "users update ann --new-password",
		"dashboard":                                "tui",
		"bill get":                                 "bill show",
		"bill edit --value 1":                      "bill update --contents 1",
		"completion -s bash":                       "completion bash",
		"stats --since 2h":                         "stats --window 2h",
		"get endpoints":                            "stats",
		"describe endpoint 1f0c":                   "subscriptions show 1f0c",
		"query SO_Totals --limit 3 --offset 4":     "query SO_Totals --take 3 --skip 4",
		"--limit=3 query SO_Totals":                "query SO_Totals --take 3",
		"query SO_Totals -L 3":                     "query SO_Totals --take 3",
		"query SO_Totals --sort InvoiceID":         "query SO_Totals --order-by InvoiceID",
		"query SO_Totals --group-by InvoiceID":     "query SO_Totals --by InvoiceID",
		"query SO_Totals --columns InvoiceID":      "query SO_Totals --fields InvoiceID",
		"query SO_Totals --filter InvoiceTotal>1":  "query SO_Totals --where InvoiceTotal>1",
		"query SO_Totals --expanded":               "query SO_Totals --format vertical",
		"query SO_Totals --json A,B":               "query SO_Totals --json --fields A,B",
		"query --json A,B SO_Totals":               "query SO_Totals --json --fields A,B",
		"query --json SO_Totals":                   "query SO_Totals --json",
		"messages list --json MessageID --limit 1": "messages list --json --take 1 --fields MessageID",
		"messages list --failed":                   "messages list --status failed",
		"messages list --after 2h":                 "messages list --since 2h",
		"requests list --failed --ip 10.0.0.7":     "requests list --errors --client 10.0.0.7",
		"subscriptions create --condition Status":  "subscriptions create --when Status",
		"subscriptions create -H X-Shop:1":         "subscriptions create --header X-Shop:1",
		"login --hostname http://erp01 -U ann":     "login --url http://erp01 --user ann",
		"query SO_Totals --context prod":           "query SO_Totals --profile prod",
	} {
		got, err := cmdline.ReorderArgs(testApp(), strings.Fields(line))
		if err != nil {
			t.Errorf("whctl %s: %v; want the same as whctl %s", line, err, equivalent)
			continue
		}
		want, err := cmdline.ReorderArgs(testApp(), strings.Fields(equivalent))
		if err != nil {
			t.Fatalf("whctl %s: %v", equivalent, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("whctl %s: got %+v; want that of whctl %s, %+v", line, got, equivalent, want)
		}
	}
}

// Words of other programs with several meanings suggest the commands or flags here.
func TestFamiliarWordsLeadToOwn(t *testing.T) {
	for line, want := range map[string]string{
		"changes SO_Totals":                        "whctl follow SO_Totals?",
		"config set-context prod":                  "whctl profile create?",
		"send":                                     "events publish or trigger?",
		"messages list --json MessageID -q .[0]":   "--jq '.[0]'?",
		"help ls":                                  "records?",
		"ls":                                       "records?",
		"pause 1f0c":                               "subscriptions disable?",
		"resume 1f0c":                              "subscriptions enable?",
		"watch":                                    "listen or messages tail?",
		"trace D100512":                            "why?",
		"sync SO_Totals":                           "mirror?",
		"changes status":                           "list?",
		"query SO_Totals -l InvoiceID=1":           "--where?",
		"query SO_Totals --follow":                 "whctl follow?",
		"messages list --follow":                   "whctl messages tail?",
		"subscriptions update 1f0c --disable":      "whctl subscriptions disable?",
		"subscriptions update 1f0c --enable":       "whctl subscriptions enable?",
		"subscriptions delete 1f0c --force":        "--yes?",
		"requests --follow":                        "whctl requests tail?",
		"messages --attempts":                      "whctl messages show --attempts?",
		"requests list --level warn":               "--errors?",
		"records debtor 0001":                      "whctl why 0001?",
		"why debtor 0001":                          "whctl why 0001?",
		"query SO_Totals -t":                       "--no-headers?",
		"events publish invoice.paid -f -":         "--body?",
		"mirror SO_Totals -o copy.db":              "--to?",
		"keys create shop --role reader -o secret": "--secret-file?",
		"subscriptions update 1f0c http://x":       "--to http://x?",
		"logs --tail 5":                            "--take?",
		"requests list --slow":                     "--order-by -RequestDuration?",
		"endpoints":                                "subscriptions or stats?",
	} {
		got := invocation{}.run(t, strings.Fields(line)...)
		hint := "; did you mean " + want + " (see: "
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, hint) {
			t.Errorf("whctl %s: got %v; want exit code 2, stderr with %q", line, got, hint)
		}
	}
}

// Flags that cannot be understood lead to the whole command line in one error.
func TestFamiliarFlagsLeadToLine(t *testing.T) {
	for line, want := range map[string]string{
		"users update ann --password X": "whctl users update ann --new-password prompts for it, " +
			"whctl users update ann --new-password-file FILE reads it (- is standard input)",
		"users create ann --new-password X":         "whctl users create ann --new-password-file FILE reads it",
		"users update ann --new-password X":         "--new-password alone prompts for it",
		"users update ann --new-password=X":         "--new-password alone prompts for it",
		"users update ann --password-stdin":         "whctl users update ann --new-password-file FILE",
		"patch subscription 1f0c -p {}":             "no flag -p; it has --to, --event,",
		"subscriptions update 1f0c --url http://x":  "whctl subscriptions update 1f0c --to http://x",
		"subscriptions update 1f0c --url http://@x": "whctl subscriptions update 1f0c --to URL",
		"messages list --limit 1 --take 2":          `--limit and --take have the same meaning, but different values, "1" and "2"`,
		"messages list --sort-by=Foo":               "--sort-by: Message has no field Foo; it has SubscriberID,",
		"messages list --sort Key --order-by -Key":  `--sort and --order-by have the same meaning`,
		"messages list --desc":                      "--order-by FIELD",
		"messages list --order asc --desc":          "--order asc and --desc cannot be combined",
		"messages list --sort Key --order up":       "--order is asc or desc",
		"messages list --json --no-headers":         "--no-headers requires --format table, csv or tsv",
		"subscriptions create --subscriber ACME":    "SUBSCRIBER is an argument: whctl subscriptions create",
		"events publish invoice.paid {} --body {}":  "two bodies",
		"events publish invoice.paid {} --key CR77": "use --event-key for the key of the event, " +
			"by which its messages are found, or --idempotency-key to publish it once",
		"get events --limit 2": "events list has no flag --limit; it lists all: leave --limit out",
		"messages list --slow": "messages list has no flag --slow",
	} {
		got := invocation{}.run(t, strings.Fields(line)...)
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("whctl %s: got %v; want exit code 2, stderr with %q", line, got, want)
		}
	}
}
