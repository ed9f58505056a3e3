package whd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	served := file("served.csv", "StatusCode,HttpMethod,PathInfo\n200,POST,/json/reply/SO_TotalsQuery\n201,POST,/Webhooks/Subscribers/\n200,GET,/Queries/SO_Totals\n")
	other := file("u_ex.log", "#Fields: cs-method cs-uri-stem sc-status\nGET /erp/Queries/DB_Main 200\nGET /erp/auth 200\nGET /erp/nothing 404\nGET / 200\n")
	kinds := file("erp.toml", "[DB_Main]\nkey = [\"DebtorID\"]\n[DB_Main.fields]\nDebtorID = \"string\"\n")
	for _, test := range []struct {
		stdin, args string
		status      int
		stdout      string
		stderr      string
	}{
		{"", served, 0, "requests served: 3, operations: 2\n         2  SO_TotalsQuery\n         1  AddSubscriber\nrequests not served: 0, operations: 0\n", ""},
		{`{"Results":[{"HttpMethod":"GET","PathInfo":"/KeepAlive"}]}`, "-", 0, "         1  KeepAlive\n", ""},
		{"", "--base-path /erp " + served + " " + other, 1, "requests not served: 1, operations: 1\n         1  GET /Queries/DB_Main\n", "requests that whd does not serve: 1, operations: 1"},
		{"", "--base-path /erp " + other, 1, "         1  GET /nothing\nrequests not below the path of the service: 1\n", ""},
		{"", other + " --base-path erp --erp-kinds " + kinds, 0, "         1  DB_MainQuery\n", ""},
		{"", "", 2, "", "LOGFILE"},
		{"", served + " " + quoted(filepath.Join(dir, "missing.csv")), 1, "", "missing.csv"},
		{"no log", "-", 1, "", "-: this is not a request log"},
		{"", kinds, 1, "", "this is not a request log in JSON"},
	} {
		got := whd(test.stdin, "compat "+test.args, "WHD_DATA_DIR="+dir)
		if got.status != test.status || !strings.Contains(got.stdout, test.stdout) || !strings.Contains(got.stderr, test.stderr) || test.stdout == "" && got.stdout != "" {
			t.Errorf("whd compat %s: %+v, want %d, %q and %q", test.args, got, test.status, test.stdout, test.stderr)
		}
	}
}
