package queries

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
)

func TestMayRead(t *testing.T) {
	for _, tt := range []struct {
		kind string
		user account.Role
		want bool
	}{
		{"", account.NoRole, true}, {"", account.Reader, true}, {"reader", account.NoRole, false}, {"reader", account.Reader, true},
		{"writer", account.Reader, false}, {"writer", account.Publisher, false}, {"writer", account.Writer, true}, {"writer", account.Admin, true},
		{"admin", account.Writer, false}, {"owner", account.Admin, false},
	} {
		x := &edge.Context{Identity: account.Identity{Role: tt.user}}
		if got := MayRead(x, &record.Kind{Role: tt.kind}); got != tt.want {
			t.Errorf("%s may read a kind of the role %q: %t", tt.user, tt.kind, got)
		}
	}
}
