package rest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Views that replace the table of a record kind and misbehave.
const (
	endless = "SELECT %s FROM numbers"             // infinite rows
	noRows  = "SELECT %s FROM numbers WHERE n < 0" // runs forever without rows
	broken  = "SELECT %s FROM numbers WHERE abs(-9223372036854775807 - n) > 0"
)

// startWithView runs a daemon that reads the records of a kind from a view.
func startWithView(t *testing.T, kind, view string, args ...string) *daemontest.Instance {
	t.Helper()
	dir := t.TempDir()
	k, _ := record.Builtin().Lookup(kind)
	daemontest.Prepare(t, dir)
	makeView(t, dir, k, view)
	return daemontest.StartIn(t, dir, append(args, "--erp-sources", kind+"=the_view")...)
}

func makeView(t *testing.T, dir string, kind *record.Kind, view string) {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var columns []string
	for _, f := range kind.Fields {
		columns = append(columns, columnValue(f)+" AS "+f.Name)
	}
	err = conn.Exec("CREATE VIEW the_view AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) " +
		fmt.Sprintf(view, strings.Join(columns, ", ")))
	if err != nil {
		t.Fatal(err)
	}
}

// columnValue returns an SQL expression over n for a field.
func columnValue(f record.Field) string {
	switch {
	case f.Type == record.DateTime:
		return "'2019-05-01T10:11:12.1230000'"
	case f.Type == record.Guid:
		return "'9f1c2e3a-0000-4000-8000-1234567890ab'"
	case f.Type == record.Bytes:
		return "x'0102'"
	case f.Type == record.Decimal:
		return "n || '.50'"
	case f.Type.Number() || f.Type == record.Bool:
		return "n % 2"
	}
	return "printf('" + f.Name + " %08d', n)"
}
