package webhooks

import (
	"testing"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// TestSetMembers checks that --set keeps the exact text of the other members.
func TestSetMembers(t *testing.T) {
	for _, c := range []struct{ body, set, want string }{
		{body: `{"A":1.50,"B":null}`, set: "C=x", want: `{"A":1.50,"B":null,"C":"x"}`},
		{body: `{"A":1}`, set: "A=2.00", want: `{"A":2.00}`},
		{body: `{}`, set: `A="007"`, want: `{"A":"007"}`},
		{body: `{}`, set: "A=", want: `{"A":""}`},
		{body: `{"A":1}`, set: "A=<b>=", want: `{"A":"<b>="}`},
	} {
		got, err := setMembers(c.body, []string{c.set})
		if err != nil || got != c.want {
			t.Errorf("setting %s in %s: got %s, error %v; want %s", c.set, c.body, got, err, c.want)
		}
	}
	for _, set := range []string{"A", "=1"} {
		if _, err := setMembers("{}", []string{set}); !cmdline.IsUsage(err) {
			t.Errorf("setting %q: got error %v, want a usage error", set, err)
		}
	}
}
