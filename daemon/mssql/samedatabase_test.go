package mssql

import "testing"

func TestSameDatabase(t *testing.T) {
	const dsn = "sqlserver://whd:a@db.example?database=ERP"
	for other, want := range map[string]bool{
		dsn: true,
		"sqlserver://other:b@DB.example:1433?database=erp&app+name=x": true,
		"sqlserver://whd:a@db.example?database=other":                 false,
		"sqlserver://whd:a@db.example":                                false,
		"sqlserver://whd:a@db.example:1434?database=ERP":              false,
		"sqlserver://whd:a@db.example/second?database=ERP":            false,
		"sqlserver://whd:a@db2.example?database=ERP":                  false,
		"sqlite": false,
	} {
		if got := SameDatabase(dsn, other); got != want {
			t.Errorf("%s: %v, want %v", other, got, want)
		}
	}
}
