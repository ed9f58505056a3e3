package crashtest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/sqlite"
)

// Minutes, subscriptions and numbers of attempts: as stored, and as counted.
const (
	storedMinutes = `SELECT DATEDIFF(minute, '1970-01-01', r.LastSavedDateTime) AS Minute,
	m.SubscriptionID AS SubscriptionID,
	SUM(CASE WHEN r.Status = 1 AND r.HTTPCode < 300 THEN 1 ELSE 0 END) AS Delivered,
	SUM(CASE WHEN r.Status = 1 AND r.HTTPCode < 300 OR r.Status = 3 THEN 0 ELSE 1 END) AS Failed,
	SUM(CASE WHEN r.Status = 3 THEN 1 ELSE 0 END) AS GivenUp, COUNT(*) AS Attempts
FROM whd.SY_WebhookMessageResponse r JOIN whd.SY_WebhookMessage m ON m.ID = r.MessageID
GROUP BY DATEDIFF(minute, '1970-01-01', r.LastSavedDateTime), m.SubscriptionID`
	countedMinutes = `SELECT Minute, SubscriptionID,
	SUM(Delivered) AS Delivered, SUM(Failed) AS Failed, SUM(GivenUp) AS GivenUp,
	SUM(Took1 + Took2 + Took3 + Took4 + Took5 + Took6 + Took7 + Took8 + Took9 + Took10 + Took11 + Took12) AS Attempts
FROM whd.WH_DeliveryMinute WHERE SubscriptionID <> 0 GROUP BY Minute, SubscriptionID`

	notCounted = `SELECT COUNT(*) FROM (` + storedMinutes + ` EXCEPT ` + countedMinutes + `) e`
	notStored  = `SELECT COUNT(*) FROM (` + countedMinutes + ` EXCEPT ` + storedMinutes + `) e`
)

// published compares the numbers of events and messages, of which none was removed: their
// differences.
const published = `SELECT ABS((SELECT COUNT(*) FROM whd.WH_Event) - (SELECT SUM(Events) FROM whd.WH_DeliveryMinute))
	+ ABS((SELECT COUNT(*) FROM whd.SY_WebhookMessage) - (SELECT SUM(Messages) FROM whd.WH_DeliveryMinute))`

// expectCounted compares the counts of minutes with the stored rows. count returns the result of a
// statement in the store.
func expectCounted(t *testing.T, when string, count func(statement string) int64) {
	t.Helper()
	if count(`SELECT COUNT(*) FROM whd.SY_WebhookMessageResponse`) == 0 {
		return
	}
	if uncounted, unstored := count(notCounted), count(notStored); uncounted+unstored > 0 {
		t.Errorf("%s: %d minutes of subscriptions have other attempts than counted, %d counts other ones than stored",
			when, uncounted, unstored)
	}
	if n := count(published); n > 0 {
		t.Errorf("%s: the published events and messages differ by %d from the stored ones", when, n)
	}
}

// expectCountedInFile is expectCounted for a data directory.
func expectCountedInFile(t *testing.T, when, dir string) {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: recoveryTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	inFile := strings.NewReplacer("whd.", "",
		"DATEDIFF(minute, '1970-01-01', r.LastSavedDateTime)", "CAST(strftime('%s', r.LastSavedDateTime) AS INTEGER) / 60")
	expectCounted(t, when, func(statement string) int64 { return count(t, conn, inFile.Replace(statement)) })
	if attempts := count(t, conn, `SELECT COUNT(*) FROM SY_WebhookMessageResponse`); attempts > 0 {
		t.Logf("%s: %d attempts are stored", when, attempts)
	}
}
