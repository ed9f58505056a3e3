package daemon

import (
	"os"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestLoginScriptNamesEveryKind keeps the rights of the login that
// deploy/login.sql makes in step with what the daemon reads.
func TestLoginScriptNamesEveryKind(t *testing.T) {
	script, err := os.ReadFile("../cmd/daemon/deploy/login.sql")
	if err != nil {
		t.Fatal(err)
	}
	grants := strings.Count(string(script), "\nGRANT SELECT ON dbo.")
	for _, kind := range record.Builtin().Kinds() {
		if !strings.Contains(string(script), "GRANT SELECT ON dbo."+kind.Name+" TO whd;") {
			t.Errorf("no right to read %s", kind.Name)
		}
	}
	const bills = 4 // BM_Main, BM_Stages, BM_StageCustomFields, SY_Plugin
	if want := len(record.Builtin().Kinds()) + bills; grants != want {
		t.Errorf("%d tables can be read, want %d: those of the kinds and of bills", grants, want)
	}
}
