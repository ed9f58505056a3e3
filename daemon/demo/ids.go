package demo

import (
	"fmt"
	"strconv"
	"strings"
)

// list is a table that other tables refer to. Only its ids are generated.
type list struct {
	table string
	size  int
	id    func(table string, n int) string
}

// The lists. Record kinds are not listed here, since no table refers to them.
var (
	items         = list{"IN_Main", itemCount, itemID}
	styles        = list{"IN_Style", 250, recID}
	warehouses    = list{"IN_Logical", 6, serialID}
	bins          = list{"IN_BinLocationLookup", 900, serialID}
	binFields     = list{"IN_BinLocationLookupCustomFields", len(binContents), guidID}
	staff         = list{"HR_Staff", 24, serialID}
	ledgers       = list{"GL_Ledger", 80, serialID}
	workflows     = list{"PO_Workflows", 5, guidID}
	receipts      = list{"CR_BatchTrans", 1200, recID}
	documentTypes = list{"SY_DocumentType", len(documents), serialID}
	bills         = list{"BM_Main", 300, recID}
	billStages    = list{"BM_Stages", 1200, recID}
	plugins       = list{"SY_Plugin", 6, guidID}
	jobStages     = list{"JB_JobStages", 1200, guidID}
	jobResources  = list{"JB_Resources", len(resources), guidID}
	estimateLines = list{"JB_EstimateLines", 2500, guidID}
	labourLines   = list{"SM_LabourLines", 700, recID}
	labourFields  = list{"SM_LabourLineCustomFields", len(labourContents), recID}
)

func (l list) at(n int) string { return l.id(l.table, n%l.size) }

// recID returns an id of twenty characters without a visible order.
func recID(table string, n int) string {
	const characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	d := random(table, n)
	id := make([]byte, 20)
	for i := range id {
		id[i] = characters[d.IntN(len(characters))]
	}
	return string(id)
}

// serialID returns an ascending id of twenty characters, as in older tables: a site and a
// number, both in base 36.
func serialID(table string, n int) string {
	const sites = 36 * 36 * 36
	return base36(int(random(table, 0).Uint32()%sites)) + base36(n+1)
}

func base36(n int) string {
	digits := strings.ToUpper(strconv.FormatInt(int64(n), 36))
	return strings.Repeat("0", 10-len(digits)) + digits
}

// guidID returns a random GUID in the format of package wire.
func guidID(table string, n int) string {
	d := random(table, n)
	high := d.Uint64()
	low := d.Uint64()
	high = high&^0xf000 | 0x4000       // version 4
	low = low&^(3<<62) | 2<<62         // RFC 9562 variant
	const nodeMask = uint64(1)<<48 - 1 // the last group
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x",
		high>>32, high>>16&0xffff, high&0xffff, low>>48, low&nodeMask)
}

// upperGUID returns a GUID in upper case, as written by other programs.
func upperGUID(table string, n int) string { return strings.ToUpper(guidID(table, n)) }

// Ids of stock items. The last items were migrated from a previous system.
const (
	itemCount     = 1600
	migratedItems = 20
)

func itemID(table string, n int) string {
	if old := n - (itemCount - migratedItems); old >= 0 {
		return fmt.Sprintf("MIGRATED%012d", old+1)
	}
	return recID(table, n)
}

// invoiceID returns a number such as D100418. Counter sales have five digits with leading
// zeros.
func invoiceID(_ string, n int) string {
	if n%40 == 3 {
		return fmt.Sprintf("%05d", 120+n/40)
	}
	return fmt.Sprintf("D%06d", 100001+n)
}
