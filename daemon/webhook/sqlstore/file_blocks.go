package sqlstore

import "fmt"

// blockSize is the number of IDs of a block, see WH_EventBlock. A list of the newest messages of a rare
// event reads as many others for each of them, while the messages of many events in turn need more
// rows in smaller blocks: with 100 events, one for two messages in place of one for three. Tables
// have ID / blockSize, so another size needs a migration like 00026_smallerblocks.sql.
const blockSize = 128

// maxNamed is the maximum number of messages that are added to their blocks at a time. It exceeds
// maxUncounted, so that the messages before the migration are added as well.
const maxNamed = 4 * maxUncounted

// lastNamed is the highest ID of the messages that are in their blocks. Those above it are new, of
// an older program, or of whd store copy.
const lastNamed = `(SELECT Next FROM WH_Number WHERE Name = 'NamedMessage')`

var (
	unnamed = fmt.Sprintf(`(SELECT ID, EventID FROM SY_WebhookMessage NOT INDEXED
	WHERE ID > %s ORDER BY ID LIMIT %d)`, lastNamed, maxNamed)

	nameBlocks = fmt.Sprintf(`INSERT OR IGNORE INTO WH_EventBlock (EventName, Block)
SELECT DISTINCT e.EventName, m.ID / %d FROM %s m CROSS JOIN WH_Event e WHERE e.EventID = m.EventID`, blockSize, unnamed)

	moveNamed = fmt.Sprintf(`UPDATE WH_Number SET Next = COALESCE((SELECT MAX(ID) FROM %s), Next)
WHERE Name = 'NamedMessage'`, unnamed)

	// oldBlocks removes the blocks before the first message.
	oldBlocks = fmt.Sprintf(`DELETE FROM WH_EventBlock
WHERE Block < COALESCE((SELECT MIN(ID) FROM SY_WebhookMessage), %s) / %d`, lastNamed, blockSize)
)

// name adds the names of events to the blocks of their messages.
func (f *fileWriter) name() error {
	err := f.conn.Query(nameBlocks, nil)
	if err != nil {
		return err
	}
	return f.conn.Query(moveNamed, nil)
}
