package account

import (
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestKindRole checks which roles the role of a kind allows.
func TestKindRole(t *testing.T) {
	all := append([]Role{NoRole}, Roles()...)
	for _, tt := range []struct {
		name   string
		role   KindRole
		lowest Role // the first that is allowed; after Admin for none
	}{
		{name: "no kind", role: RoleOf(nil), lowest: NoRole},
		{name: "a kind without a role", role: RoleOf(&record.Kind{}), lowest: NoRole},
		{name: "reader", role: RoleOf(&record.Kind{Role: "reader"}), lowest: Reader},
		{name: "publisher", role: RoleOf(&record.Kind{Role: "publisher"}), lowest: Publisher},
		{name: "writer", role: RoleOf(&record.Kind{Role: "writer"}), lowest: Writer},
		{name: "Writer, in other letter case", role: ParseKindRole("Writer"), lowest: Writer},
		{name: "admin", role: RoleOf(&record.Kind{Role: "admin"}), lowest: Admin},
		{name: "owner, which is no role", role: RoleOf(&record.Kind{Role: "owner"}), lowest: Admin + 1},
		{name: "a space, which is no role", role: ParseKindRole(" "), lowest: Admin + 1},
		{name: "the zero value", role: KindRole{}, lowest: Admin + 1},
	} {
		for _, r := range append(all, Admin+1) {
			want := r >= tt.lowest && tt.lowest <= Admin
			if got := tt.role.Allows(r); got != want {
				t.Errorf("%s: Allows(%q) = %t, want %t", tt.name, r, got, want)
			}
		}
	}
}
