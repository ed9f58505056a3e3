package webhooks

import (
	"testing"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// --set keeps the exact text of the other members.
func TestSetMembers(t *testing.T) {
	for _, c := range []struct{ body, set, want string }{
		{`{"A":1.50,"B":null}`, "C=x", `{"A":1.50,"B":null,"C":"x"}`},
		{`{"A":1}`, "A=2.00", `{"A":2.00}`},
		{`{}`, `A="007"`, `{"A":"007"}`},
		{`{}`, "A=", `{"A":""}`},
		{`{"A":1}`, "A=<b>=", `{"A":"<b>="}`},
	} {
		if got, err := setMembers(c.body, []string{c.set}); err != nil || got != c.want {
			t.Errorf("%s, %s: %s, %v; want %s", c.body, c.set, got, err, c.want)
		}
	}
	for _, set := range []string{"A", "=1"} {
		if _, err := setMembers("{}", []string{set}); !cmdline.IsUsage(err) {
			t.Errorf("%q: %v", set, err)
		}
	}
}
