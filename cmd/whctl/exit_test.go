package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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
)

// Every exit code that an error can have is produced once by a real run.
func TestExitCodes(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	seen := map[int]bool{}
	for name, c := range map[string]struct {
		trial
		args []string
		code int
		say  string // part of standard error
	}{
		"success":        {trial{handler: rows(1, `{"Class":"A"}`)}, []string{"query", "DB_Class"}, 0, ""},
		"no rows":        {trial{handler: rows(0)}, []string{"query", "DB_Class"}, 0, ""},
		"disk":           {trial{}, []string{"query", "DB_Class", "-o", filepath.Join(t.TempDir(), "no", "such", "file")}, 1, "no such file"},
		"stranger":       {trial{handler: stranger(200)}, []string{"query", "DB_Class"}, 1, "200 OK as text/html"},
		"bad gateway":    {trial{handler: stranger(502)}, []string{"query", "DB_Class"}, 1, "502 Bad Gateway"},
		"usage":          {trial{}, []string{"query", "DB_Class", "--where", "Class>5"}, 2, "Class is text: use"},
		"bad address":    {trial{env: map[string]string{profile.EnvURL: "erp01:5050"}}, []string{"query", "DB_Class"}, 2, "WHCTL_URL"},
		"unreachable":    {trial{env: map[string]string{profile.EnvURL: closedAddress(t)}}, []string{"query", "DB_Class"}, 3, "cannot reach http://127.0.0.1"},
		"wrong key":      {trial{handler: status(401, "Unauthorized"), env: map[string]string{profile.EnvToken: "x"}}, []string{"query", "DB_Class"}, 4, "the API key is from the variable WHCTL_TOKEN"},
		"not signed in":  {trial{handler: status(401, "Unauthorized")}, []string{"query", "DB_Class"}, 4, "WHCTL_TOKEN"},
		"role too low":   {trial{handler: status(403, "Forbidden")}, []string{"query", "DB_Class"}, 4, "Forbidden"},
		"not found":      {trial{handler: status(404, "NotFound")}, []string{"query", "DB_Class"}, 5, "NotFound"},
		"rejected":       {trial{handler: status(400, "ArgumentException")}, []string{"query", "DB_Class"}, 6, "\n  Take: must be a number\n  request id 4711\n"},
		"unavailable":    {trial{handler: status(503, "ServiceUnavailable")}, []string{"query", "DB_Class"}, 6, "ServiceUnavailable: no good"},
		"cut":            {trial{handler: cutOff}, []string{"query", "DB_Class", "--all"}, 7, "incomplete reply"},
		"miscounted":     {trial{handler: miscounted}, []string{"query", "DB_Class"}, 7, "incomplete reply: 1 of 2 rows arrived"},
		"statement time": {trial{handler: status(504, "Timeout")}, []string{"query", "DB_Class"}, 8, "Timeout"},
		"slow":           {trial{handler: silent}, []string{"query", "DB_Class", "--timeout", "20ms"}, 8, "within 20ms"},
		"nothing found":  {trial{handler: rows(0)}, []string{"query", "DB_Class", "--exit-status"}, 10, ""},
		"none counted":   {trial{handler: rows(0)}, []string{"query", "DB_Class", "--count", "--exit-status"}, 10, ""},
		"some found":     {trial{handler: rows(1, `{"Class":"A"}`)}, []string{"query", "DB_Class", "--exit-status"}, 0, ""},
		"read-only":      {trial{env: map[string]string{"WHCTL_READ_ONLY": "1"}}, []string{"poke"}, 9, "read-only: nothing was sent"},
		"no yes":         {trial{}, []string{"poke", "--sweeping"}, 9, "refused to set a value without --yes"},
		"dry run":        {trial{}, []string{"poke", "--dry-run"}, 0, ""},
		"interrupted":    {trial{handler: silent, ctx: cancelled}, []string{"query", "DB_Class"}, 130, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.run(t, c.args...)
			seen[c.code] = true
			if got.code != c.code || !strings.Contains(got.stderr, c.say) {
				t.Errorf("exit %d, want %d; stderr:\n%s", got.code, c.code, got.stderr)
			}
			if c.say == "" && got.stderr != "" {
				t.Errorf("standard error of a success:\n%s", got.stderr)
			}
		})
	}
	for _, e := range exits {
		if e.Is != nil && !seen[e.Code] {
			t.Errorf("no run ended with %d", e.Code)
		}
	}
}

// Our output's reader may go; a service that closes the connection while it is
// sent something has the same code, and has not done what it was asked.
func TestClosedConnection(t *testing.T) {
	closed := &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	for _, c := range []struct {
		err  error
		code int
	}{
		{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, 0},
		{&client.Error{Kind: client.Unreachable, Message: "no answer", Err: closed}, 3},
		{fmt.Errorf("the event: %w", &client.Error{Kind: client.Failed, Err: closed}), 1},
	} {
		var stderr strings.Builder
		report(&stderr, c.err, nil)
		if code := cmdline.ExitCode(exits, c.err); code != c.code || (stderr.String() == "") != (code == 0) {
			t.Errorf("%v: exit %d, want %d; stderr %q", c.err, code, c.code, stderr.String())
		}
	}
}

func stranger(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		io.WriteString(w, "<html>\x1b[31mnot the service</html>")
	}
}

func closedAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func silent(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
	<-r.Context().Done()
}

// cutOff breaks the connection behind the first row.
func cutOff(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", wire.HeaderRowCount)
	io.WriteString(w, `{"Class":"A"}`+"\n")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func miscounted(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set(wire.HeaderRowCount, "2")
	io.WriteString(w, `{"Class":"A"}`+"\n")
}

// A mistake in the command line is one line on standard error with what to do
// about it, and nothing on standard output.
func TestUsageErrors(t *testing.T) {
	for args, say := range map[string]string{
		"qury SO_Totals":                                        "did you mean query?",
		"query":                                                 "query needs RECORD",
		"query SO_Totals DB_Class":                              "query takes RECORD, not 2 arguments",
		"query SO_Totls":                                        "did you mean SO_Totals?",
		"records SO_Totls":                                      "did you mean SO_Totals?",
		"records SO_Totals DB_Class":                            "records takes [RECORD], not 2 arguments",
		"query SO_Totals --tke 3":                               "did you mean --take?",
		"--nope":                                                "unknown flag --nope",
		"query SO_Totals -x":                                    "query has no flag -x",
		"query SO_Totals --take":                                "--take needs a value",
		"query SO_Totals --take three":                          `invalid value "three" for --take`,
		"query SO_Totals --take -1":                             "--take must be from 0",
		"query SO_Totals --skip 9999999999":                     "--skip must be from 0",
		"query SO_Totals --timeout 30":                          "timeout (flag --timeout) must be a duration such as 30s",
		"query SO_Totals --all --take 3":                        "--all and --take cannot be combined",
		"query SO_Totals --count --fields InvoiceID":            "--count and --fields cannot be combined",
		"query SO_Totals --fields InvoiceId,Totl":               "--fields: SO_Totals has no field Totl",
		"query SO_Totals --fields InvoiceId,InvoiceID":          "duplicate field InvoiceID",
		"query SO_Totals --order-by -InvoiceTotl":               "did you mean InvoiceTotal",
		"query SO_Totals --where Colour=red":                    "SO_Totals has no field Colour",
		"query SO_Totals --where InvoiceTotal>=x":               "InvoiceTotal must be a number",
		"query SO_Totals --where InvoiceID=1 -w invoiceid=2":    "use in or between",
		"query SO_Totals --format jsn":                          "did you mean json",
		"query SO_Totals --csv --json":                          "--json and --format csv cannot be combined",
		"query SO_Totals --excel --json":                        "--excel requires",
		"query SO_Totals --null x --json":                       "--null requires",
		"query SO_Totals --url http://jsmith:swordfish@erp01":   "must not hold a user",
		"queyr SO_Totals --take 3":                              `unknown command "queyr"; did you mean query?`,
		"key creat k --role reader":                             `keys has no command "creat"; did you mean create?`,
		"users ad ann":                                          "did you mean create?",
		"--take 3":                                              "no command given; did you mean whctl query --take?",
		"login --remember=swordfish":                            "--remember takes no value, except =true or =false",
		"query SO_Totals --debug=swordfish":                     "--debug takes no value, except =true or =false",
		"profile lst":                                           "did you mean list?",
		"profile frobnicate":                                    "it has list, show, create, delete, use",
		"profile use":                                           "profile use needs PROFILE",
		"profile use prod":                                      "there is no profile",
		"profile create prod":                                   "--url",
		"profile create a.b --url http://x":                     "letters, digits",
		"config show colur":                                     "did you mean colour?",
		"config update timeout soon":                            "must be a duration",
		"config update url http://x":                            "is a setting of profiles",
		"records --profile prod":                                `there is no profile "prod"`,
		"query SO_Totals --format xlsx":                         "needs a file",
		"query SO_Totals -o totals.XLSX":                        "add --format xlsx",
		"query SO_Totals --format raw:yaml":                     "unknown format",
		"query SO_Totals --csv --jq .":                          "--jq requires",
		"query SO_Totals --jq .[":                               "--jq: unexpected",
		"query SO_Totals --password-stdin":                      "standard input has no secret",
		"login":                                                 "cannot ask for the user name without a terminal",
		"login --user ann":                                      "cannot ask for the password of ann without a terminal",
		"query SO_Totals --password-stdin --password-file x":    "cannot be combined",
		"version please":                                        "version takes no argument",
		"help qery":                                             "did you mean query?",
		"help query formats":                                    `no help for "query formats"`,
		"query SO_Totals --where InvoiceTotalGreaterThan>5":     "no field InvoiceTotalGreaterThan",
		"query SO_Totals --where InvoiceIDGreaterThan=5":        "InvoiceID is text",
		"query IN_ProductAvailability --where Available!=true":  "Available is bool: use = (there is no !=)",
		"query BM_Inputs --where SubAssemblyExplodePolicy=256":  "from 0 to 255",
		"query CR_BatchTransDocuments --where FileBinary=?":     "must be base64",
		"query BM_InputCustomFields --where SY_Plugin_RecID=12": "must be a guid",
	} {
		got := trial{}.run(t, strings.Fields(args)...)
		if got.code != 2 || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, say) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", args, got.code, got.stdout, got.stderr, say)
		}
		if strings.Contains(got.stderr, "swordfish") {
			t.Errorf("%s: a password is repeated", args)
		}
	}
}

// What the service says cannot act on the terminal.
func TestMessagesAreInert(t *testing.T) {
	got := trial{handler: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"X","Message":"a\u001b[2Jb\nc\u202e","Errors":[{"FieldName":"\u0007","Message":"\u009b1m"}]}}`)
	}}.run(t, "query", "DB_Class")
	want := "whctl: X: a^[[2Jb^Jc\\u202e\n  ^G: \\u009b1m\n"
	if got.stderr != want {
		t.Errorf("stderr %q, want %q", got.stderr, want)
	}
}

// A group of commands without a subcommand prints its help, also after flags of
// the program.
func TestGroupWithoutSubcommandPrintsHelp(t *testing.T) {
	for _, c := range testApp().Commands {
		if len(c.Subcommands) == 0 {
			continue
		}
		want := trial{}.run(t, "help", c.Name)
		for _, args := range [][]string{{c.Name}, {"--quiet", c.Name}, {c.Name, "--help"}} {
			if got := (trial{}).run(t, args...); got.code != 0 || got.stdout != want.stdout || got.stderr != "" || want.stdout == "" {
				t.Errorf("whctl %q: %+v, want %+v", args, got, want)
			}
		}
	}
}

// The verbs of all nouns are the same; former verbs still run the same command.
func TestVerbs(t *testing.T) {
	common := []string{"list", "show", "create", "update", "delete", "enable", "disable", "retry", "test", "tail", "publish", "rotate-secret", "use", "edit", "path"}
	for _, noun := range testApp().Commands {
		for _, c := range noun.Subcommands {
			if !slices.Contains(common, c.Name) {
				t.Errorf("whctl %s %s: unusual verb", noun.Name, c.Name)
			}
		}
	}
	for former, want := range map[string]string{
		"users add": "users create", "users change": "users update", "users remove": "users delete", "keys add": "keys create", "keys remove": "keys delete",
		"subscribers change": "subscribers update", "subscribers remove": "subscribers delete", "subscriptions change": "subscriptions update",
		"bill set-field": "bill update", "events raise": "events publish", "profile add": "profile create", "profile remove": "profile delete",
		"profile rm": "profile delete", "config get": "config show", "config set": "config update", "messages remove": "messages delete",
	} {
		line, err := cmdline.ReorderArgs(testApp(), strings.Fields(former))
		if got := strings.Join(line.Path, " "); err != nil || got != want {
			t.Errorf("whctl %s is %q, %v; want %q", former, got, err, want)
		}
		if help := (trial{}).run(t, "help", strings.Fields(former)[0]).stdout; strings.Contains(help, "\n  "+strings.Fields(former)[1]+" ") {
			t.Errorf("help lists the former command %s", former)
		}
	}
}
