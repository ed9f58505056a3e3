package sqlstore

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestBacklogByIndex checks that the backlog is counted with a covering index, in
// its order.
func TestBacklogByIndex(t *testing.T) {
	w := hooksInFile(t)
	plan := planOfText(t, w.Admin.db, backlogRows)
	const want = "COVERING INDEX IX_SY_WebhookMessage_Due"
	if !strings.Contains(plan, want) || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("the plan is\n%s\nwant %q and no sorting", plan, want)
	}
}

// BenchmarkWebhookBacklog counts a million open messages of a hundred
// subscriptions; the table has half as many other messages.
func BenchmarkWebhookBacklog(b *testing.B) {
	b.Run("file", func(b *testing.B) { benchmarkBacklog(b, hooksInFile(b)) })
	b.Run("server", func(b *testing.B) { benchmarkBacklog(b, hooksOnServer(b, mssqltest.Database(b))) })
}

func benchmarkBacklog(b *testing.B, w *Store) {
	fillBacklog(b, w)
	for b.Loop() {
		backlogs, err := w.Engine.Backlog(b.Context())
		if err != nil || len(backlogs) != 100 {
			b.Fatalf("%d subscriptions have a backlog (%v), want 100", len(backlogs), err)
		}
	}
}

// fillBacklog writes 1.5 million messages of a hundred subscriptions, of which every third was
// delivered.
func fillBacklog(b *testing.B, w *Store) {
	r, _ := subscribed(b, w)
	w.mustExec(b, `INSERT INTO whd.SY_WebhookSubscription
	(ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT 1000000 + h.N, CONCAT('subscription ', h.N), s.SubscriberID, s.EventName, s.URL, s.ItemNo, 1, 0, s.Secret, 0,
	s.LastSavedDateTime, s.RowHash
FROM whd.SY_WebhookSubscription s CROSS JOIN `+numbers(100)+` h WHERE s.ID = @ID`, sql.Named("ID", r.ID))

	const parts, partSize = 30, 50_000
	insert := w.Admin.db.Qualify(`INSERT INTO whd.SY_WebhookMessage
	(ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT m.N, CONCAT('message ', m.N), m.N, 1 + m.N % 2, 1000000 + m.N % 100, 'https://shop.example/in/some/longer/path',
	CASE WHEN m.N % 3 = 0 THEN 1 WHEN m.N % 10 = 1 THEN 2 ELSE 0 END, 1,
	CASE WHEN m.N % 3 = 0 THEN NULL ELSE @At END, @At, @At, 0
FROM (SELECT @First + a.N * 500 + b.N AS N FROM ` + numbers(100) + ` a CROSS JOIN ` + numbers(500) + ` b) m`)
	for part := range parts {
		_, err := w.Admin.db.Pool.ExecContext(b.Context(), insert,
			sql.Named("At", appdb.Timestamp(hookNoon)), sql.Named("First", partSize*part))
		if err != nil {
			b.Fatal(err)
		}
	}
}

// numbers returns a table of the numbers N below n, for either database.
func numbers(n int) string {
	var b strings.Builder
	b.WriteString(`(SELECT 0 AS N`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, ` UNION ALL SELECT %d`, i)
	}
	return b.String() + `)`
}
