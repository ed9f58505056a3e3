package sqlstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
)

// TestRequestLogStatements compares the statements of both databases with the
// golden file, and the rows as sent to SQL Server.
func TestRequestLogStatements(t *testing.T) {
	db := &appdb.DB{Schema: "own tables"}
	entry := requestlog.Entry{
		At:       time.Date(2030, 1, 2, 3, 4, 5, 600, time.UTC),
		Status:   404,
		Duration: 1500 * time.Microsecond,
	}
	entry.Texts[requestlog.PathInfo] = "/a^b"
	entry.Texts[requestlog.Headers] = `{"Host":"x\\y"}`
	entry.Texts[requestlog.RequestBody] = "two\nlines\té"
	rows := logRows([]requestlog.Entry{entry, {Status: 200}})

	parts := []string{
		"== SQLite",
		insertFileRow,
		deleteOld,
		deleteOldest,
		deleteAnonymous,
		measureSome,
		storeLag,
		readLag,
		storeMissing,
		probeTime,
		countAll,
		countBetween,
		"== SQL Server",
		db.Qualify(insertRows),
		string(rows),
		db.Qualify(measureRows),
		db.Qualify(measureAnonymousRows),
		db.Qualify(pruneOldOnServer),
		db.Qualify(pruneFirstOnServer),
		db.Qualify(lastAnonymousRow),
		db.Qualify(pruneAnonymousOnServer),
	}
	var got strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&got, "%s\n\n", part)
	}
	goldentest.Compare(t, "testdata/requestlog.sql", got.String())
}
