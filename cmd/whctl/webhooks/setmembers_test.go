package webhooks

import (
	"strings"
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
		{
			body: `{"A":"\/Date(1700000000000+0000)\/"}`,
			set:  "B=/Date(1700000000000+0000)/",
			want: `{"A":"\/Date(1700000000000+0000)\/","B":"/Date(1700000000000+0000)/"}`,
		},
		{body: `{"/Date(0)/":1}`, set: "A=1", want: `{"/Date(0)/":1,"A":1}`},
		{body: `{"A":1,"A":2}`, set: "B=3", want: `{"A":1,"A":2,"B":3}`},
	} {
		got, err := setMembers("the body", c.body, []string{c.set})
		if err != nil || got != c.want {
			t.Errorf("setting %s in %s: got %s, error %v; want %s", c.set, c.body, got, err, c.want)
		}
	}
	for _, c := range []struct{ body, set, want string }{
		{body: "{}", set: "A", want: "NAME=VALUE"},
		{body: "{}", set: "=1", want: "NAME=VALUE"},
		{body: "[]", set: "A=1", want: "the body is none"},
		{body: `{"A":1,"A":2}`, set: "A=3", want: "the body has several members with this name"},
	} {
		_, err := setMembers("the body", c.body, []string{c.set})
		if !cmdline.IsUsage(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("setting %q in %s: got error %v, want a usage error with %q", c.set, c.body, err, c.want)
		}
	}
}
