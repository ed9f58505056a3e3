package appdb

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// The migration must create all rows that lockRow can return.
func TestMigrationCreatesAllLockRows(t *testing.T) {
	text, err := os.ReadFile("schema/mssql/00003_lock.sql")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`\((\d+), 0\)`).FindAllStringSubmatch(string(text), -1)
	for i, row := range rows {
		if row[1] != fmt.Sprint(i) {
			t.Errorf("row %d is %s", i, row[0])
		}
	}
	if len(rows) != lockRows {
		t.Errorf("%d rows, want %d", len(rows), lockRows)
	}
}

// Keys must be spread evenly over the rows of WH_Lock.
func TestLockRowSpreadsKeys(t *testing.T) {
	used := make(map[int64]int)
	for stage := range 64 {
		for field := range 64 {
			n := lockRow("stage " + string(rune('0'+stage)) + "\x00field " + string(rune('0'+field)))
			if n < 0 || n >= lockRows {
				t.Fatalf("row %d of %d", n, lockRows)
			}
			used[n]++
		}
	}
	if len(used) != lockRows {
		t.Errorf("%d of %d rows are used", len(used), lockRows)
	}
	if lockRow("a\x00bc") == lockRow("ab\x00c") && lockRow("x\x00yz") == lockRow("xy\x00z") {
		t.Error("different keys with the same concatenation have the same row")
	}
}
