package whd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Logs of requests, and a file of record kinds.
const (
	servedLog = `StatusCode,HttpMethod,PathInfo
200,POST,/json/reply/SO_TotalsQuery
201,POST,/Webhooks/Subscribers/
200,GET,/Queries/SO_Totals
`
	otherLog = `#Fields: cs-method cs-uri-stem sc-status
GET /erp/Queries/DB_Main 200
GET /erp/auth 200
GET /erp/nothing 404
GET / 200
`
	debtorKind = `[DB_Main]
key = ["DebtorID"]
[DB_Main.fields]
DebtorID = "string"
`
)

// TestCompat counts the requests in logs, and compares exit codes and output.
func TestCompat(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return quoted(path)
	}
	served := file("served.csv", servedLog)
	other := file("u_ex.log", otherLog)
	kinds := file("erp.toml", debtorKind)
	for name, test := range map[string]struct {
		stdin  string
		args   string
		status int
		stdout string // a part of it; empty for no output
		stderr string // a part of it
	}{
		"all served": {
			args: served,
			stdout: "requests served: 3, operations: 2\n" +
				"         2  SO_TotalsQuery\n" +
				"         1  AddSubscriber\n" +
				"requests not served: 0, operations: 0\n",
		},
		"standard input": {
			stdin:  `{"Results":[{"HttpMethod":"GET","PathInfo":"/KeepAlive"}]}`,
			args:   "-",
			stdout: "         1  KeepAlive\n",
		},
		"two files": {
			args:   "--base-path /erp " + served + " " + other,
			status: 1,
			stdout: "requests not served: 1, operations: 1\n         1  GET /Queries/DB_Main\n",
			stderr: "requests that whd does not serve: 1, operations: 1",
		},
		"base path": {
			args:   "--base-path /erp " + other,
			status: 1,
			stdout: "         1  GET /nothing\nrequests not below the path of the service: 1\n",
		},
		"declared kind": {
			args:   other + " --base-path erp --erp-kinds " + kinds,
			stdout: "         1  DB_MainQuery\n",
		},
		"no file": {
			args:   "",
			status: 2,
			stderr: "LOGFILE",
		},
		"missing file": {
			args:   served + " " + quoted(filepath.Join(dir, "missing.csv")),
			status: 1,
			stderr: "missing.csv",
		},
		"standard input without a log": {
			stdin:  "no log",
			args:   "-",
			status: 1,
			stderr: "-: this is not a request log",
		},
		"file without a log": {
			args:   kinds,
			status: 1,
			stderr: "this is not a request log in JSON",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := whd(test.stdin, "compat "+test.args, "WHD_DATA_DIR="+dir)
			if got.status != test.status {
				t.Errorf("whd compat %s ended with exit code %d, want %d", test.args, got.status, test.status)
			}
			isPrinted := strings.Contains(got.stdout, test.stdout)
			if test.stdout == "" {
				isPrinted = got.stdout == ""
			}
			if !isPrinted {
				t.Errorf("whd compat %s printed\n%s\nwant\n%s", test.args, got.stdout, test.stdout)
			}
			if !strings.Contains(got.stderr, test.stderr) {
				t.Errorf("whd compat %s reported %q, want %q", test.args, got.stderr, test.stderr)
			}
		})
	}
}
