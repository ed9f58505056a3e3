package demo

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// Statement is SQL for the embedded file of demo records.
type Statement struct {
	SQL  string
	Args []any
}

// liveTakes is the number of stock takes of Activity that exist at the same time.
const liveTakes = 3

// newestTake selects the number of the newest stock take of Activity.
const newestTake = "(SELECT MAX(KitStockTakeNo) FROM IN_KitStockTakeMain" +
	" WHERE KitStockTakeNo LIKE 'LIVE-%')"

// Activity returns the nth change of an endless series, as the users of an ERP make them: a
// stock take is added and completed, an invoice gets another total, and an old stock take is
// removed. at is the time of the change in the zone of the ERP.
func Activity(n int, at time.Time) Statement {
	switch n % 4 {
	case 0:
		return addTake(at)
	case 1:
		return completeTake(at)
	case 2:
		return changeInvoice(n/4%Count("SO_Totals"), at)
	}
	return removeTake()
}

// addTake adds a stock take.
func addTake(at time.Time) Statement {
	return Statement{`INSERT INTO IN_KitStockTakeMain
	(KitStockTakeID, KitStockTakeNo, KitStockTakeNotes, KitStockTakeStatus, KitStockTakeDate,
	LastSavedDateTime)
VALUES (?1, ?2, ?3, 0, ?4, ?5)`, []any{
		fmt.Sprintf("live%016x", at.UnixNano()),
		"LIVE-" + at.Format("20060102150405.000"),
		"Cycle count",
		at.Format(time.DateOnly) + "T00:00:00.0000000",
		at.Format(wire.DateLayout),
	}}
}

// completeTake completes the newest stock take.
func completeTake(at time.Time) Statement {
	return Statement{`UPDATE IN_KitStockTakeMain
SET KitStockTakeStatus = 1, LastSavedDateTime = ?1
WHERE KitStockTakeNo = ` + newestTake, []any{at.Format(wire.DateLayout)}}
}

// changeInvoice sets the total of an invoice, counted from 0 in the order of their ids.
func changeInvoice(index int, at time.Time) Statement {
	total := fmt.Sprintf("%d.%02d00", 100+at.Unix()%900, at.Second())
	return Statement{`UPDATE SO_Totals SET InvoiceTotal = ?1
WHERE InvoiceID = (SELECT InvoiceID FROM SO_Totals ORDER BY InvoiceID LIMIT 1 OFFSET ?2)`,
		[]any{total, int64(index)}}
}

// removeTake removes the stock takes of Activity except the newest.
func removeTake() Statement {
	return Statement{`DELETE FROM IN_KitStockTakeMain
WHERE KitStockTakeNo LIKE 'LIVE-%' AND KitStockTakeNo NOT IN (
	SELECT KitStockTakeNo FROM IN_KitStockTakeMain WHERE KitStockTakeNo LIKE 'LIVE-%'
	ORDER BY KitStockTakeNo DESC LIMIT ?1)`, []any{int64(liveTakes)}}
}
