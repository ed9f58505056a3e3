package demo

import (
	"fmt"
	"time"
)

// Statement is SQL for the embedded file of demo records.
type Statement struct {
	SQL  string
	Args []any
}

// liveTakes is the number of stock takes of Activity that exist at the same time.
const liveTakes = 3

// Activity returns the nth change of an endless series, as the users of an ERP make them: a
// stock take is added and completed, an invoice gets another total, and an old stock take is
// removed. at is the time of the change in the zone of the ERP.
func Activity(n int, at time.Time) Statement {
	const stamp = "2006-01-02T15:04:05.0000000"
	const newest = "(SELECT MAX(KitStockTakeNo) FROM IN_KitStockTakeMain WHERE KitStockTakeNo LIKE 'LIVE-%')"
	switch n % 4 {
	case 0:
		return Statement{`INSERT INTO IN_KitStockTakeMain (KitStockTakeID, KitStockTakeNo, KitStockTakeNotes, KitStockTakeStatus, KitStockTakeDate, LastSavedDateTime)
VALUES (?1, ?2, ?3, 0, ?4, ?5)`, []any{
			fmt.Sprintf("live%016x", at.UnixNano()), "LIVE-" + at.Format("20060102150405.000"),
			"Cycle count", at.Format(time.DateOnly) + "T00:00:00.0000000", at.Format(stamp),
		}}
	case 1:
		return Statement{"UPDATE IN_KitStockTakeMain SET KitStockTakeStatus = 1, LastSavedDateTime = ?1 WHERE KitStockTakeNo = " + newest, []any{at.Format(stamp)}}
	case 2:
		return Statement{"UPDATE SO_Totals SET InvoiceTotal = ?1 WHERE InvoiceID = (SELECT InvoiceID FROM SO_Totals ORDER BY InvoiceID LIMIT 1 OFFSET ?2)",
			[]any{fmt.Sprintf("%d.%02d00", 100+at.Unix()%900, at.Second()), int64(n / 4 % Count("SO_Totals"))}}
	}
	return Statement{`DELETE FROM IN_KitStockTakeMain WHERE KitStockTakeNo LIKE 'LIVE-%' AND KitStockTakeNo NOT IN
	(SELECT KitStockTakeNo FROM IN_KitStockTakeMain WHERE KitStockTakeNo LIKE 'LIVE-%' ORDER BY KitStockTakeNo DESC LIMIT ?1)`, []any{int64(liveTakes)}}
}
