package daemon_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
)

// operation returns the name of a built-in kind's operation.
func operation(t *testing.T, kind string) string {
	t.Helper()
	k, ok := record.Builtin().Lookup(kind)
	if !ok {
		t.Fatalf("no built-in kind %s", kind)
	}
	return k.Operation()
}

// TestBuiltinKindsBySetting checks that erp.builtin leaves kinds out, and that a reload follows
// it.
func TestBuiltinKindsBySetting(t *testing.T) {
	i := daemontest.Start(t, "--auth-queries", "anonymous")
	expect := func(path string, status int, want string) {
		t.Helper()
		o := onServer{t: t}
		o.expect(o.request("GET", i.URL+path, ""), status, want)
	}
	i.Set(t, "erp.builtin", "DB_Class")
	const left = "is not served: the setting erp.builtin leaves it out"
	expect("/Queries/DB_Class", 200, `"Results":[`)
	expect("/Queries/SO_Totals", 404, "SO_Totals "+left)
	expect("/json/reply/"+operation(t, "SO_Totals"), 404, left)
	expect("/Queries/SO_Total", 404, "unknown record kind SO_Total")
	i.Set(t, "erp.builtin", "present")
	expect("/Queries/SO_Totals", 200, `"Results":[`)
	i.Set(t, "erp.builtin", "none")
	expect("/Queries/DB_Class", 404, "DB_Class "+left)
}
