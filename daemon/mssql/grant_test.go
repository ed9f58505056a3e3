package mssql

import "testing"

func TestGrant(t *testing.T) {
	for want, c := range map[string]struct {
		table, user string
		rights      []string
	}{
		"GRANT SELECT ON [dbo].[DB_Class] TO [whd];":                  {"DB_Class", "whd", []string{"SELECT"}},
		"GRANT INSERT, UPDATE ON [bills].[a]]b] TO [ERP\\whd$];":      {"bills.[a]]b]", `ERP\whd$`, []string{"INSERT", "UPDATE"}},
		"GRANT DELETE, UPDATE (RefusedReason) ON [dbo].[T] TO [w]]];": {"T", "w]", []string{"DELETE", "UPDATE (RefusedReason)"}},
		"USE [other base]; IF USER_ID(N'o''whd]') IS NULL CREATE USER [o'whd]]] FOR LOGIN [ERP\\whd]; GRANT SELECT ON [dbo].[T] TO [o'whd]]];": {"[other base].dbo.T", "o'whd]", []string{"SELECT"}},
	} {
		table, ok := ParseTable(c.table, "dbo")
		if got := table.grant(c.user, `ERP\whd`, c.rights); !ok || got != want {
			t.Errorf("%s: %q, want %q", c.table, got, want)
		}
	}
	table, _ := ParseTable("T", "dbo")
	linked, _ := ParseTable("far.base.dbo.T", "dbo")
	if got := table.grant("whd", "whd", nil) + table.grant("dbo", "sa", []string{"SELECT"}) + linked.grant("whd", "whd", []string{"SELECT"}); got != "" {
		t.Errorf("%q for no rights, the owner and a linked server", got)
	}
}
