package mssql

import "testing"

func TestGrant(t *testing.T) {
	const login = `ERP\whd`
	for _, c := range []struct {
		table, user string
		rights      []string
		want        string
	}{
		{
			"DB_Class", "whd", []string{"SELECT"},
			"GRANT SELECT ON [dbo].[DB_Class] TO [whd];",
		},
		{
			"bills.[a]]b]", `ERP\whd$`, []string{"INSERT", "UPDATE"},
			"GRANT INSERT, UPDATE ON [bills].[a]]b] TO [ERP\\whd$];",
		},
		{
			"T", "w]", []string{"DELETE", "UPDATE (RefusedReason)"},
			"GRANT DELETE, UPDATE (RefusedReason) ON [dbo].[T] TO [w]]];",
		},
		{
			"[other base].dbo.T", "o'whd]", []string{"SELECT"},
			"USE [other base]; IF USER_ID(N'o''whd]') IS NULL " +
				"CREATE USER [o'whd]]] FOR LOGIN [ERP\\whd]; " +
				"GRANT SELECT ON [dbo].[T] TO [o'whd]]];",
		},
		{"T", "whd", nil, ""},
		{"T", "dbo", []string{"SELECT"}, ""}, // owns the database
		{"far.base.dbo.T", "whd", []string{"SELECT"}, ""},
	} {
		table, ok := ParseTable(c.table, "dbo")
		if got := table.grant(c.user, login, c.rights); !ok || got != c.want {
			t.Errorf("granting %q on %s to %s: got %q, want %q", c.rights, c.table, c.user, got, c.want)
		}
	}
}
