package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// Each exit code of an error is the result of at least one run.
func TestExitCodes(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	seen := map[int]bool{}
	for name, c := range map[string]struct {
		invocation
		args   []string
		code   int
		stderr string // part of standard error
	}{
		"success": {
			invocation: invocation{handler: rows(1, `{"Class":"A"}`)},
			args:       []string{"query", "DB_Class"},
			code:       0,
		},
		"no rows": {invocation: invocation{handler: rows(0)}, args: []string{"query", "DB_Class"}, code: 0},
		"cannot write": {
			args:   []string{"query", "DB_Class", "-o", filepath.Join(t.TempDir(), "no", "such", "file")},
			code:   1,
			stderr: "no such file",
		},
		"other service": {
			invocation: invocation{handler: htmlReply(200)},
			args:       []string{"query", "DB_Class"},
			code:       1,
			stderr:     "200 OK as text/html",
		},
		"bad gateway": {
			invocation: invocation{handler: htmlReply(502)},
			args:       []string{"query", "DB_Class"},
			code:       1,
			stderr:     "502 Bad Gateway",
		},
		"usage": {
			args:   []string{"query", "DB_Class", "--where", "Class>5"},
			code:   2,
			stderr: "Class is text: use",
		},
		"invalid URL": {
			invocation: invocation{env: map[string]string{profile.EnvURL: "erp01:5050"}},
			args:       []string{"query", "DB_Class"},
			code:       2,
			stderr:     "WHCTL_URL",
		},
		"unreachable": {
			invocation: invocation{env: map[string]string{profile.EnvURL: unreachableURL(t)}},
			args:       []string{"query", "DB_Class"},
			code:       3,
			stderr:     "cannot reach http://127.0.0.1",
		},
		"invalid key": {
			invocation: invocation{
				handler: status(401, "Unauthorized"),
				env:     map[string]string{profile.EnvToken: "x"},
			},
			args:   []string{"query", "DB_Class"},
			code:   4,
			stderr: "the API key is from the variable WHCTL_TOKEN",
		},
		"not signed in": {
			invocation: invocation{handler: status(401, "Unauthorized")},
			args:       []string{"query", "DB_Class"},
			code:       4,
			stderr:     "WHCTL_TOKEN",
		},
		"role too low": {
			invocation: invocation{handler: status(403, "Forbidden")},
			args:       []string{"query", "DB_Class"},
			code:       4,
			stderr:     "Forbidden",
		},
		"not found": {
			invocation: invocation{handler: status(404, "NotFound")},
			args:       []string{"query", "DB_Class"},
			code:       5,
			stderr:     "NotFound",
		},
		"rejected": {
			invocation: invocation{handler: status(400, "ArgumentException")},
			args:       []string{"query", "DB_Class"},
			code:       6,
			stderr:     "\n  Take: must be a number\n  request id 4711\n",
		},
		"unavailable": {
			invocation: invocation{handler: status(503, "ServiceUnavailable")},
			args:       []string{"query", "DB_Class"},
			code:       6,
			stderr:     "ServiceUnavailable: no good",
		},
		"broken off": {
			invocation: invocation{handler: truncatedReply},
			args:       []string{"query", "DB_Class", "--all"},
			code:       7,
			stderr:     "incomplete response",
		},
		"too few rows": {
			invocation: invocation{handler: wrongRowCount},
			args:       []string{"query", "DB_Class"},
			code:       7,
			stderr:     "incomplete response: 1 of 2 rows arrived",
		},
		"query timeout": {
			invocation: invocation{handler: status(504, "Timeout")},
			args:       []string{"query", "DB_Class"},
			code:       8,
			stderr:     "Timeout",
		},
		"no reply": {
			invocation: invocation{handler: noReply},
			args:       []string{"query", "DB_Class", "--timeout", "1s"},
			code:       8,
			stderr:     "within 1s",
		},
		"no match": {
			invocation: invocation{handler: rows(0)},
			args:       []string{"query", "DB_Class", "--exit-status"},
			code:       10,
		},
		"count of 0": {
			invocation: invocation{handler: rows(0)},
			args:       []string{"query", "DB_Class", "--count", "--exit-status"},
			code:       10,
		},
		"match": {
			invocation: invocation{handler: rows(1, `{"Class":"A"}`)},
			args:       []string{"query", "DB_Class", "--exit-status"},
			code:       0,
		},
		"read-only": {
			invocation: invocation{env: map[string]string{"WHCTL_READ_ONLY": "1"}},
			args:       []string{"poke"},
			code:       9,
			stderr:     "read-only: nothing was sent",
		},
		"no --yes": {
			args:   []string{"poke", "--sweeping"},
			code:   9,
			stderr: "refused to set a value without --yes",
		},
		"dry run": {
			args:   []string{"poke", "--dry-run"},
			code:   0,
			stderr: "dry run, nothing was changed: set a value (1 request)\n",
		},
		"interrupted": {
			invocation: invocation{handler: noReply, ctx: cancelled},
			args:       []string{"query", "DB_Class"},
			code:       130,
			stderr:     "interrupted",
		},
		"of raw output": {
			invocation: invocation{handler: noReply, ctx: cancelled},
			args:       []string{"query", "DB_Class", "--format", "raw"},
			code:       130,
			stderr:     "whctl: interrupted\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.run(t, c.args...)
			seen[c.code] = true
			if got.code != c.code || !strings.Contains(got.stderr, c.stderr) {
				t.Errorf("whctl %q: got %v; want exit code %d, stderr with %q",
					c.args, got, c.code, c.stderr)
			}
			if c.stderr == "" && got.stderr != "" {
				t.Errorf("whctl %q: got stderr %q, want none", c.args, got.stderr)
			}
		})
	}
	for _, e := range exits {
		if e.Is != nil && !seen[e.Code] {
			t.Errorf("no run exits with %d", e.Code)
		}
	}
}

// EPIPE on standard output is success, because the reader has closed it. EPIPE on the
// connection to the service is a failure.
func TestClosedConnection(t *testing.T) {
	closed := &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	for _, c := range []struct {
		err  error
		code int
	}{
		{err: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, code: 0},
		{err: &client.Error{Kind: client.Unreachable, Message: "no answer", Err: closed}, code: 3},
		{
			err:  fmt.Errorf("the event: %w", &client.Error{Kind: client.Failed, Err: closed}),
			code: 1,
		},
	} {
		var stderr strings.Builder
		report(&stderr, c.err, nil)
		if code := cmdline.ExitCode(exits, c.err); code != c.code {
			t.Errorf("%v: got exit code %d, want %d", c.err, code, c.code)
		}
		isReported := stderr.Len() > 0
		if wantReport := c.code != 0; isReported != wantReport {
			t.Errorf("%v: got stderr %q, want a message: %t", c.err, &stderr, wantReport)
		}
	}
}

// htmlReply replies like a server that is not whd.
func htmlReply(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		io.WriteString(w, "<html>\x1b[31mnot the service</html>")
	}
}

// unreachableURL returns the URL of a service that does not exist.
func unreachableURL(t *testing.T) string {
	return fmt.Sprintf("http://127.0.0.1:%d", daemontest.FreePort(t))
}

// noReply never replies.
func noReply(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // the server detects a closed connection only after the body is read
	<-r.Context().Done()
}

// truncatedReply closes the connection after the first row.
func truncatedReply(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", wire.HeaderRowCount)
	io.WriteString(w, `{"Class":"A"}`+"\n")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// wrongRowCount announces more rows than it sends.
func wrongRowCount(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set(wire.HeaderRowCount, "2")
	io.WriteString(w, `{"Class":"A"}`+"\n")
}

// A usage error prints one line with a hint to standard error, and nothing to standard
// output.
func TestUsageErrors(t *testing.T) {
	for args, want := range map[string]string{
		"qury SO_Totals":                    "did you mean query?",
		"query":                             "query needs RECORD",
		"query SO_Totals DB_Class":          "query takes RECORD, got 2 arguments",
		"query SO_Totls":                    "did you mean SO_Totals?",
		"records SO_Totls":                  "did you mean SO_Totals?",
		"records SO_Totals DB_Class":        "records takes [RECORD], got 2 arguments",
		"query SO_Totals D100512":           `did you mean --where "FIELD=D100512"?`,
		"query SO_Totals InvoiceTotal>1000": `did you mean --where "InvoiceTotal>1000"?`,
		"query SO_Totals --fields InvoiceID InvoiceTotal": `did you mean --fields InvoiceID,InvoiceTotal or --where "FIELD=`,
		"query invoices":                                                 "did you mean SO_Totals?",
		"query SO_Totals --where D100512":                                "a condition has a field and an operator, such as InvoiceID=D100512",
		"query SO_Totals --by InvoiceID,InvoiceTotal":                    "--by takes one field",
		"messages list --where failed":                                   "such as Status=failed",
		"subscriptions update 1f0c..9ab2 --url http://x":                 "--to is the URL of the subscription",
		"subscriptions update 1f0c..9ab2 --to http://x --url http://y":   "whctl --url URL subscriptions update",
		"subscriptions update 1f0c..9ab2 --server http://x --order none": "--to is the URL of the subscription",
		"subscriptions create 1f0c debtor.* --url http://x":              "the argument URL is the URL of the subscription",
		"subs add 1f0c debtor.* http://y --url http://x":                 "whctl --url URL subscriptions create",
		"login http://erp01:5050":                                        "did you mean --url http://erp01:5050?",
		"keys create --name shop":                                        "NAME is an argument: whctl keys create NAME",
		"query SO_Totals --tke 3":                                        "did you mean --take?",
		"--nope":                                                         "unknown flag --nope",
		"query SO_Totals -z":                                             "query has no flag -z",
		"query SO_Totals --take":                                         "--take needs a value",
		"query SO_Totals --role":                                         "query has no flag --role",
		"--role":                                                         "no command given; did you mean whctl users create --role?",
		"query SO_Totals --take three":                                   `invalid value "three" for --take`,
		"query SO_Totals --take -1":                                      "--take must be from 0",
		"query SO_Totals --skip 9999999999":                              "--skip must be from 0",
		"query SO_Totals --timeout 30":                                   "timeout (flag --timeout) must be a duration such as 30s",
		"query SO_Totals --all --take 3":                                 "--all and --take cannot be combined",
		"query SO_Totals --count --fields InvoiceID":                     "--count and --fields cannot be combined",
		"query SO_Totals --fields InvoiceId,Totl":                        "--fields: SO_Totals has no field Totl; list them with whctl records SO_Totals",
		"query SO_Totals --fields InvoiceId,InvoiceID":                   "duplicate field InvoiceID",
		"query SO_Totals --order-by -InvoiceTotl":                        "did you mean InvoiceTotal",
		"query SO_Totals --where Colour=red":                             "SO_Totals has no field Colour",
		"query SO_Totals --where InvoiceTotal>=x":                        "InvoiceTotal must be a number",
		"query SO_Totals --where InvoiceID=1 -w invoiceid=2":             "use in or between",
		"query SO_Totals --format jsn":                                   "did you mean json",
		"query SO_Totals --csv --json":                                   "--json and --format csv cannot be combined",
		"query SO_Totals --excel --json":                                 "--excel requires",
		"query SO_Totals --null x --json":                                "--null requires",
		"query SO_Totals --url http://jsmith:swordfish@erp01":            "must not contain a user",
		"query SO_Totals --url jsmith:swordfish@erp01":                   "must be a URL",
		"query SO_Totals --url erp01:5050":                               "write https://erp01:5050, or without TLS http://erp01:5050",
		"query SO_Totals -o x.pdf":                                       "the ending .pdf selects no format",
		"query SO_Totals -o wide":                                        "--format vertical prints all fields",
		"queyr SO_Totals --take 3":                                       `unknown command "queyr"; did you mean query?`,
		"key creat k --role reader":                                      `keys has no command "creat"; did you mean create?`,
		"users ad ann":                                                   "did you mean create?",
		"--take 3":                                                       "no command given; did you mean whctl query --take?",
		"login --remember=swordfish":                                     "--remember takes no value, except =true or =false",
		"query SO_Totals --debug=swordfish":                              "--debug takes no value, except =true or =false",
		"profile lst":                                                    "did you mean list?",
		"profile frobnicate":                                             "it has list, show, create, delete, use",
		"config update user":                                             "config update takes SETTING VALUE, got 1 argument (see",
		"-- --version":                                                   `unknown command "--version"`,
		"-- profile frobnicate":                                          `profile has no command "frobnicate"`,
		"query SO_Totals --count=true --take 3":                          "--count and --take cannot be combined",
		"profile use":                                                    "profile use needs PROFILE",
		"profile use prod":                                               "there is no profile",
		"profile create prod":                                            "--url",
		"profile create a.b --url http://x":                              "letters, digits",
		"config show colur":                                              "did you mean colour?",
		"config update timeout soon":                                     "must be a duration",
		"config update url http://x":                                     "is set for each profile",
		"records --profile prod":                                         `there is no profile "prod"`,
		"query SO_Totals --format xlsx":                                  "needs a file",
		"query SO_Totals --format raw:yaml":                              "unknown format",
		"query SO_Totals --csv --jq .":                                   "--jq requires",
		"query SO_Totals --jq .[":                                        "--jq: unexpected",
		"query SO_Totals --password-stdin":                               "standard input has no secret",
		"login":                                                          "cannot prompt for the user name without a terminal",
		"login --user ann":                                               "cannot prompt for the password of ann without a terminal",
		"query SO_Totals --password-stdin --password-file x":             "cannot be combined",
		"version please":                                                 "version takes no argument",
		"help qery":                                                      "did you mean query?",
		"help query formats":                                             `no help for "query formats"`,
		"query SO_Totals --where InvoiceTotalGreaterThan>5":              "no field InvoiceTotalGreaterThan",
		"query SO_Totals --where InvoiceIDGreaterThan=5":                 "InvoiceID is text",
		"query IN_ProductAvailability --where Available!=true":           "Available is bool: use =, not !=",
		"query BM_Inputs --where SubAssemblyExplodePolicy=256":           "from 0 to 255",
		"query CR_BatchTransDocuments --where FileBinary=?":              "must be base64",
		"query BM_InputCustomFields --where SY_Plugin_RecID=12":          "must be a guid",
	} {
		got := invocation{}.run(t, strings.Fields(args)...)
		isOneLine := strings.Count(got.stderr, "\n") == 1
		if got.code != 2 || got.stdout != "" || !isOneLine || !strings.Contains(got.stderr, want) {
			t.Errorf("whctl %s: got %v; want exit code 2, one line on stderr with %q", args, got, want)
		}
		if strings.Contains(got.stderr, "swordfish") {
			t.Errorf("whctl %s: the password is printed: %q", args, got.stderr)
		}
	}
}

// Messages of the service cannot control the terminal.
func TestErrorOutputIsSanitized(t *testing.T) {
	hostile := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"X","Message":"a\u001b[2Jb\nc\u202e",`+
			`"Errors":[{"FieldName":"\u0007","Message":"\u009b1m"}]}}`)
	}
	got := invocation{handler: hostile}.run(t, "query", "DB_Class")
	want := "whctl: X: a^[[2Jb^Jc\\u202e\n  ^G: \\u009b1m\n"
	if got.stderr != want {
		t.Errorf("after a reply with control characters: got stderr %q, want %q", got.stderr, want)
	}
}

// A group of commands without a subcommand prints its help, also after flags of
// the program.
func TestGroupWithoutSubcommandPrintsHelp(t *testing.T) {
	for _, c := range testApp().Commands {
		if len(c.Subcommands) == 0 {
			continue
		}
		want := invocation{}.run(t, "help", c.Name)
		if want.code != 0 || want.stdout == "" || want.stderr != "" {
			t.Errorf("whctl help %s: got %v; want help on stdout", c.Name, want)
		}
		for _, args := range [][]string{{c.Name}, {"--quiet", c.Name}, {c.Name, "--help"}} {
			if got := (invocation{}).run(t, args...); got != want {
				t.Errorf("whctl %q: got %v; want %v", args, got, want)
			}
		}
	}
}

// commonVerbs are the names of commands in groups.
var commonVerbs = []string{
	"list", "show", "create", "update", "delete", "enable", "disable", "retry", "test", "tail",
	"publish", "rotate-secret", "use", "edit", "path", "resume",
}

// formerCommands has the names of commands in earlier versions, with the present ones.
var formerCommands = map[string]string{
	"bill set-field":       "bill update",
	"config get":           "config show",
	"config set":           "config update",
	"events raise":         "events publish",
	"keys add":             "keys create",
	"keys remove":          "keys delete",
	"messages remove":      "messages delete",
	"profile add":          "profile create",
	"profile remove":       "profile delete",
	"profile rm":           "profile delete",
	"subscribers change":   "subscribers update",
	"subscribers remove":   "subscribers delete",
	"subscriptions change": "subscriptions update",
	"users add":            "users create",
	"users change":         "users update",
	"users remove":         "users delete",
}

// TestVerbsAreUniform checks that all groups of commands use the same verbs. Former verbs still run
// the same command and are not listed by help.
func TestVerbsAreUniform(t *testing.T) {
	for _, group := range testApp().Commands {
		for _, c := range group.Subcommands {
			if !slices.Contains(commonVerbs, c.Name) {
				t.Errorf("whctl %s %s: the verb is none of %q", group.Name, c.Name, commonVerbs)
			}
		}
	}
	for former, want := range formerCommands {
		group, verb, _ := strings.Cut(former, " ")
		line, err := cmdline.ReorderArgs(testApp(), []string{group, verb})
		if got := strings.Join(line.Path, " "); err != nil || got != want {
			t.Errorf("whctl %s: got the command %q, error %v; want %q", former, got, err, want)
		}
		help := invocation{}.run(t, "help", group)
		if strings.Contains(help.stdout, "\n  "+verb+" ") {
			t.Errorf("whctl help %s lists the former command %s", group, verb)
		}
	}
}

// An address with the wrong scheme is answered with the right one, in both directions.
func TestWrongSchemeNamesTheRightOne(t *testing.T) {
	plain := httptest.NewServer(rows(0))
	defer plain.Close()
	secured := httptest.NewTLSServer(rows(0))
	defer secured.Close()
	for _, c := range []struct{ url, want string }{
		{url: "https" + strings.TrimPrefix(plain.URL, "http"), want: "use --url " + plain.URL},
		{
			url:  "http" + strings.TrimPrefix(secured.URL, "https"),
			want: "the service at this address uses HTTPS: " + secured.URL,
		},
	} {
		got := invocation{}.run(t, "query", "DB_Class", "--url", c.url)
		if got.code == 0 || !strings.Contains(got.stderr, c.want) {
			t.Errorf("whctl query --url %s: got %v; want an error with %q", c.url, got, c.want)
		}
	}
}
