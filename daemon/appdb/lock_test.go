package appdb

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// TestMigrationCreatesAllLockRows checks that the migration creates all rows that lockRow can
// return.
func TestMigrationCreatesAllLockRows(t *testing.T) {
	text, err := os.ReadFile("schema/mssql/00003_lock.sql")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`\((\d+), 0\)`).FindAllStringSubmatch(string(text), -1)
	for i, row := range rows {
		if row[1] != fmt.Sprint(i) {
			t.Errorf("row %d of the migration is %s, want the ID %d", i, row[0], i)
		}
	}
	if len(rows) != lockRows {
		t.Errorf("the migration creates %d rows, want %d", len(rows), lockRows)
	}
}

// TestLockRowSpreadsKeys checks that keys use all rows of WH_Lock.
func TestLockRowSpreadsKeys(t *testing.T) {
	used := make(map[int64]int)
	for stage := range 64 {
		for field := range 64 {
			key := fmt.Sprintf("stage %c\x00field %c", '0'+stage, '0'+field)
			n := lockRow(key)
			if n < 0 || n >= lockRows {
				t.Fatalf("the key %q has the row %d, want one below %d", key, n, lockRows)
			}
			used[n]++
		}
	}
	if len(used) != lockRows {
		t.Errorf("%d rows are used, want all %d", len(used), lockRows)
	}
	if lockRow("a\x00bc") == lockRow("ab\x00c") && lockRow("x\x00yz") == lockRow("xy\x00z") {
		t.Error("different keys with the same concatenation have the same row")
	}
}
