package sqlstore

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// batchText collects the statement of a batch for a server, and its arguments:
// rows as JSON for OPENJSON, and the bodies of events beside them. Babelfish cuts
// texts that come out of OPENJSON at 4,000 characters, and leaves their escapes
// in.
type batchText struct {
	statement strings.Builder
	args      []any
	escapes   escapes
	stored    [][]any         // rows of answers that attempts refer to
	known     map[string]bool // their hashes
}

// serverBatch is the statement of a batch, with the parts that it needs. A batch
// without rows only checks leases and version: SQL Server takes no empty block.
//
// The arguments are at most webhook.MaxBatchEvents and one for each kind of rows,
// while a call takes 2,100.
func serverBatch(b *delivery.Batch, holder sql.NamedArg) (string, []any) {
	w := &batchText{known: make(map[string]bool)}
	w.part("", "Leases", leaseRows(b.Leases))
	w.arg("LeaseCount", len(b.Leases))
	w.arg("Version", b.Version)
	if len(b.Outbox) > 0 {
		w.outbox(b.Outbox)
	}
	if len(b.Events) > 0 {
		w.part(w.withBodies(serverEvents, b.Events), "Events", w.eventRows(b.Events))
	}
	if len(b.Messages) > 0 {
		w.part(serverMessages, "Messages", w.messageRows(b.Messages))
	}
	for i, round := range rounds(b.Outcomes) {
		name := fmt.Sprintf("Outcomes%d", i+1)
		w.part(strings.ReplaceAll(serverOutcomes, "@Outcomes", "@"+name), name, w.outcomeRows(round))
	}
	if len(w.stored) > 0 {
		w.part(serverTextRows, "Texts", w.stored)
	}
	if len(b.Disabled) > 0 {
		w.part(serverDisabled, "Disabled", w.disabledRows(b.Disabled))
		w.arg("RowHash", newRowHash())
	}
	if len(b.Health) > 0 {
		w.part(serverHealth, "Health", healthRows(b.Health))
	}
	if len(b.Changes) > 0 {
		w.statement.WriteString(serverChanges)
		w.arg("Home", b.Home)
		w.arg("Number", b.Number)
		w.arg("Changes", mssql.Document([]byte(changesText(b))))
	}
	if len(b.Keys) > 0 {
		w.part(serverKeys, "Keys", keyRows(b.Keys))
	}
	if len(b.PeerEvents) > 0 {
		w.part(serverNudges, "Nudges", nudgeRows(b.PeerEvents))
	}
	if len(b.Disabled)+len(b.PeerEvents) > 0 {
		w.args = append(w.args, holder)
	}
	block := ""
	if w.statement.Len() > 0 {
		block = serverBlock + w.statement.String() + "END\n"
	}
	return serverBegin + w.escapes.fill(block) + serverEnd, w.args
}

func (w *batchText) arg(name string, value any) { w.args = append(w.args, sql.Named(name, value)) }

// part adds a statement for rows.
func (w *batchText) part(statement, name string, rows [][]any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rows); err != nil {
		panic("store: " + err.Error()) // texts and numbers can always be written
	}
	w.statement.WriteString(statement)
	w.arg(name, mssql.Document(text.Bytes()))
}

// withBodies puts the bodies of events, each behind its number, in their place
// in the statement. There are rows to fill up to a power of two, so that
// statements of a few lengths serve all batches.
func (w *batchText) withBodies(statement string, events []*webhook.Event) string {
	count := 1
	for count < len(events) {
		count *= 2
	}
	var list strings.Builder
	for n := range count {
		if n > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "(%d, @T%d)", n, n)
		var body []byte
		if n < len(events) {
			body = events[n].Body
		}
		w.arg(fmt.Sprintf("T%d", n), mssql.Document(body))
	}
	return strings.ReplaceAll(statement, "{texts}", list.String())
}

func leaseRows(leases []delivery.Lease) [][]any {
	rows := make([][]any, len(leases))
	for i, l := range leases {
		rows[i] = []any{l.Partition, l.Fence}
	}
	return rows
}

func (w *batchText) eventRows(events []*webhook.Event) [][]any {
	rows := make([][]any, len(events))
	for i, e := range events {
		rows[i] = []any{e.ID, e.GUID, w.escapes.text(e.Name), appdb.Stamp(e.AddedAt), i}
	}
	return rows
}

func (w *batchText) messageRows(messages []*webhook.Message) [][]any {
	rows := make([][]any, len(messages))
	for i, m := range messages {
		rows[i] = []any{m.ID, m.GUID, m.Event.ID, m.Partition, m.Subscription, w.escapes.text(m.URL), m.Status, m.Attempts,
			appdb.NullIfEmpty(dueText(m.State)), appdb.Stamp(m.Event.AddedAt), appdb.Bit(m.Private)}
	}
	return rows
}

// rounds are the outcomes so that each round has one of each message, in the
// order in which they come: an UPDATE does one of several that it joins. There
// is seldom more than one round.
func rounds(outcomes []webhook.AttemptResult) (all [][]webhook.AttemptResult) {
	turns := make(map[int64]int, len(outcomes))
	for _, r := range outcomes {
		turn := turns[r.Message.ID]
		turns[r.Message.ID]++
		if turn == len(all) {
			all = append(all, nil)
		}
		all[turn] = append(all[turn], r)
	}
	return all
}

func (w *batchText) outcomeRows(outcomes []webhook.AttemptResult) [][]any {
	rows := make([][]any, len(outcomes))
	for i, r := range outcomes {
		a := attemptOf(r)
		w.store(&a)
		var code any
		if a.code != 0 {
			code = a.code
		}
		rows[i] = []any{a.message, a.number, a.guid, a.status, max(0, a.number-1), code, a.reason,
			appdb.NullIfEmpty(a.next), a.ended, a.duration, w.escapes.text(a.detail), w.escapes.text(a.answer), appdb.NullIfEmpty(a.hash)}
	}
	return rows
}

// store takes an answer out of its attempt where that refers to it. The text comes
// in pieces, each short enough even if all of its characters are escaped.
func (w *batchText) store(a *attempt) {
	const piece = 2000
	if a.hash == "" {
		return
	}
	row := []any{a.hash, a.ended, textSize(a.answer)}
	for range answerPieces {
		text := appdb.Truncate(a.answer, piece)
		row, a.answer = append(row, w.escapes.text(text)), a.answer[len(text):]
	}
	if !w.known[a.hash] {
		w.known[a.hash] = true
		w.stored = append(w.stored, row)
	}
}

func (w *batchText) disabledRows(disabled []delivery.Disabled) [][]any {
	rows := make([][]any, len(disabled))
	for i, d := range disabled {
		rows[i] = []any{d.Subscription, w.escapes.text(readable(d.Reason, mostDisabled)), appdb.Stamp(d.At)}
	}
	return rows
}

func healthRows(all []delivery.Health) [][]any {
	rows := make([][]any, len(all))
	for i, h := range all {
		rows[i] = []any{h.Subscription, appdb.NullIfEmpty(momentText(h.Since)), appdb.Bit(h.Anew)}
	}
	return rows
}

func nudgeRows(all []delivery.PeerEvent) [][]any {
	rows := make([][]any, len(all))
	for i, n := range all {
		rows[i] = []any{n.Subscription, n.Kind}
	}
	return rows
}

// momentText is a time as it is stored, empty for the zero time.
func momentText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return appdb.Stamp(t)
}

func keyRows(keys []delivery.Key) [][]any {
	rows := make([][]any, len(keys))
	for i, k := range keys {
		rows[i] = []any{hex.EncodeToString(k.Hash[:]), hex.EncodeToString(k.Digest[:]), k.Event, k.Count, appdb.Stamp(k.Until)}
	}
	return rows
}
