package sqlstore

import (
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// capturedChange is a change with the group that it belongs to.
type capturedChange struct {
	*delivery.CapturedChange
	group *delivery.Captured
}

func capturedChanges(c *delivery.Captured) []capturedChange {
	changes := make([]capturedChange, len(c.Changes))
	for i := range changes {
		changes[i] = capturedChange{CapturedChange: &c.Changes[i], group: c}
	}
	return changes
}

// when returns a value if a condition holds, else nil.
func when(condition bool, value any) any {
	if !condition {
		return nil
	}
	return value
}

// Columns of changes, and of the entries of the shadow on SQL Server.
var (
	captureColumns = columns[*delivery.Captured]{
		{"Kind", "nvarchar(128)", func(c *delivery.Captured) any { return c.Kind }},
		{"Fence", number, func(c *delivery.Captured) any { return c.Fence }},
		{"First", number, func(c *delivery.Captured) any { return c.Changes[0].ID }},
		{"NextChangeID", number, func(c *delivery.Captured) any { return c.Changes[0].ID + int64(len(c.Changes)) }},
		{"Bytes", number, func(c *delivery.Captured) (size any) {
			n := 0
			for _, change := range c.Changes {
				n += len(change.Body)
			}
			return int64(n)
		}},
	}
	changeColumns = columns[capturedChange]{
		{"Kind", "nvarchar(128)", func(c capturedChange) any { return c.group.Kind }},
		{"ChangeID", number, func(c capturedChange) any { return c.ID }},
		{"Op", "nvarchar(8)", func(c capturedChange) any { return c.Op }},
		{"RecordKey", text, func(c capturedChange) any { return c.Key }},
		{"EventID", number, func(c capturedChange) any { return when(c.EventID != 0, c.EventID) }},
		{"Size", integer, func(c capturedChange) any { return int64(len(c.Body)) }},
		{"Body", binary, func(c capturedChange) any { return when(c.EventID == 0, c.Body) }},
		{"Number", number, func(c capturedChange) any { return c.Number }},
		{"ShadowKey", binary, func(c capturedChange) any { return c.ShadowKey }},
		{"Entry", binary, func(c capturedChange) any { return when(!c.Deleted, c.Entry) }},
		{"AddedDateTime", dateTime, func(c capturedChange) any { return appdb.Timestamp(c.group.AddedAt) }},
	}
	shadowColumns = columns[ShadowRow]{
		{"Number", number, func(r ShadowRow) any { return r.Number }},
		{"KeyHash", number, func(r ShadowRow) any { return delivery.KeyHash(r.Key) }},
		{"ShadowKey", binary, func(r ShadowRow) any { return r.Key }},
		{"Entry", binary, func(r ShadowRow) any { return when(r.Entry != nil, r.Entry) }},
	}
)

// ShadowRow is an entry of the shadow on SQL Server. Without an Entry it is removed.
type ShadowRow struct {
	Number     int64
	Key, Entry []byte
}

// shadowRows returns the entries after a group of changes, one for each number.
func shadowRows(c *delivery.Captured) []ShadowRow {
	last := make(map[int64]int)
	for i, change := range c.Changes {
		last[change.Number] = i
	}
	var rows []ShadowRow
	for i, change := range c.Changes {
		if change.Number == 0 || last[change.Number] != i {
			continue
		}
		r := ShadowRow{Number: change.Number, Key: change.ShadowKey, Entry: change.Entry}
		if change.Deleted {
			r.Entry = nil
		}
		rows = append(rows, r)
	}
	return rows
}

// Statements of a batch with changes. The row of the capture is the first to be locked:
// the numbers of changes become visible in their order.
const captureUpdate = `NextChangeID = @NextChangeID, Bytes = Bytes + @Bytes
WHERE Kind = @Kind AND Fence = @Fence AND NextChangeID = @First`

var (
	fileCapture = newStatement(captureColumns, `UPDATE WH_Capture SET `+captureUpdate)
	fileChange  = newStatement(changeColumns, `INSERT INTO WH_RecordChange (`+changeColumns.names()+`) VALUES (`+changeColumns.parameters()+`)`)

	serverCapture = `UPDATE c SET NextChangeID = n.NextChangeID, Bytes = c.Bytes + n.Bytes
FROM whd.WH_Capture c WITH (FORCESEEK)
JOIN ` + captureColumns.open("Capture") + ` n ON n.Kind COLLATE Latin1_General_BIN2 = c.Kind AND n.Fence = c.Fence AND n.First = c.NextChangeID;
IF @@ROWCOUNT <> 1 SET @Result = 5;
`
	serverRecordChanges = `IF @Result = 0 INSERT INTO whd.WH_RecordChange (` + changeColumns.names() + `)
SELECT ` + changeColumns.values() + ` FROM ` + changeColumns.open("RecordChanges") + ` n;
`
	serverShadow = `DELETE s FROM whd.WH_Shadow s WITH (FORCESEEK)
JOIN whd.WH_Capture c ON c.ShadowID = s.ShadowID AND c.Kind = @Kind
JOIN ` + shadowColumns.open("Shadow", "Number") + ` n ON n.Number = s.Number;
INSERT INTO whd.WH_Shadow (ShadowID, ` + shadowColumns.names() + `)
SELECT c.ShadowID, ` + shadowColumns.values() + ` FROM ` + shadowColumns.open("Shadow") + ` n
JOIN whd.WH_Capture c ON c.Kind = @Kind
WHERE n.EntrySize IS NOT NULL;
`
)

// ShadowStatement returns the T-SQL that replaces entries of the shadow of a kind, with its
// arguments. It belongs into a transaction that has locked the kind's row of WH_Capture.
func ShadowStatement(kind string, rows []ShadowRow) (statement string, args []any) {
	w := &batchText{}
	part(w, serverShadow, "Shadow", shadowColumns, rows)
	w.arg("Kind", kind)
	w.arg("Bytes", w.escapes.bytes)
	return w.statement.String(), w.args
}
