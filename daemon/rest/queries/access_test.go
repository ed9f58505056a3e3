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
		{kind: "", user: account.NoRole, want: true},
		{kind: "", user: account.Reader, want: true},
		{kind: "reader", user: account.NoRole, want: false},
		{kind: "reader", user: account.Reader, want: true},
		{kind: "writer", user: account.Reader, want: false},
		{kind: "writer", user: account.Publisher, want: false},
		{kind: "writer", user: account.Writer, want: true},
		{kind: "writer", user: account.Admin, want: true},
		{kind: "admin", user: account.Writer, want: false},
		{kind: "owner", user: account.Admin, want: false},
	} {
		x := &edge.Context{Identity: account.Identity{Role: tt.user}}
		if got := MayRead(x, &record.Kind{Role: tt.kind}); got != tt.want {
			t.Errorf("%s may read a kind of the role %q: %t", tt.user, tt.kind, got)
		}
	}
}
