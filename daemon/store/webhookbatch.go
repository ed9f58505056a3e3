package store

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook"
)

// batchText collects the statement of a batch for a server, and its arguments:
// rows as JSON for OPENJSON, and long texts beside them. Babelfish cuts texts
// that come out of OPENJSON at 4,000 characters, and leaves their escapes in.
type batchText struct {
	statement strings.Builder
	args      []any
	texts     int // arguments that are a long text each
	escapes   escapes
}

// serverBatch is the statement of a batch, with the parts that it needs.
func serverBatch(b *webhook.Batch, holder sql.NamedArg) (string, []any) {
	w := &batchText{}
	w.part(serverBegin, "Leases", leaseRows(b.Leases))
	w.arg("LeaseCount", len(b.Leases))
	w.arg("Version", b.Version)
	if len(b.Outbox) > 0 {
		w.outbox(b.Outbox)
	}
	if len(b.Events) > 0 {
		w.part(w.withTexts(serverEvents, bodies(b.Events)), "Events", w.eventRows(b.Events))
	}
	if len(b.Messages) > 0 {
		w.part(serverMessages, "Messages", w.messageRows(b.Messages))
	}
	for i, round := range rounds(b.Outcomes) {
		name := fmt.Sprintf("Outcomes%d", i+1)
		rows, texts := outcomeRows(round)
		w.part(w.withTexts(strings.ReplaceAll(serverOutcomes, "@Outcomes", "@"+name), texts), name, rows)
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
	if len(b.Nudges) > 0 {
		w.part(serverNudges, "Nudges", nudgeRows(b.Nudges))
		w.args = append(w.args, holder)
	}
	w.statement.WriteString(serverEnd)
	return w.escapes.fill(w.statement.String()), w.args
}

func (w *batchText) arg(name string, value any) { w.args = append(w.args, sql.Named(name, value)) }

// part adds a statement for rows.
func (w *batchText) part(statement, name string, rows [][]any) {
	text, err := json.Marshal(rows)
	if err != nil {
		panic("store: " + err.Error()) // texts and numbers can always be written
	}
	w.statement.WriteString(statement)
	w.arg(name, mssql.Document(text))
}

// withTexts puts rows of long texts, each behind its number, in their place in
// a statement. There are rows to fill up to a power of two, so that statements
// of a few lengths serve all batches.
func (w *batchText) withTexts(statement string, rows [][]string) string {
	count := 1
	for count < len(rows) {
		count *= 2
	}
	var list strings.Builder
	for n := range count {
		if n > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "(%d", n)
		for _, text := range rows[min(n, len(rows)-1)] {
			if n >= len(rows) {
				text = ""
			}
			name := fmt.Sprintf("T%d", w.texts)
			w.texts++
			w.arg(name, mssql.Document([]byte(text)))
			list.WriteString(", @" + name)
		}
		list.WriteString(")")
	}
	return strings.ReplaceAll(statement, "{texts}", list.String())
}

func leaseRows(leases []webhook.Lease) [][]any {
	rows := make([][]any, len(leases))
	for i, l := range leases {
		rows[i] = []any{l.Partition, l.Fence}
	}
	return rows
}

func bodies(events []*webhook.Event) [][]string {
	rows := make([][]string, len(events))
	for i, e := range events {
		rows[i] = []string{string(e.Body)}
	}
	return rows
}

func (w *batchText) eventRows(events []*webhook.Event) [][]any {
	rows := make([][]any, len(events))
	for i, e := range events {
		rows[i] = []any{e.ID, e.GUID, w.escapes.text(e.Name), stamp(e.AddedAt), i}
	}
	return rows
}

func (w *batchText) messageRows(messages []*webhook.Message) [][]any {
	rows := make([][]any, len(messages))
	for i, m := range messages {
		rows[i] = []any{m.ID, m.GUID, m.Event.ID, m.Partition, m.Subscription, w.escapes.text(m.URL), m.Status, m.Attempts,
			absent(dueText(m.State)), stamp(m.Event.AddedAt), bit(m.Private)}
	}
	return rows
}

// bit is a bool as both databases take it.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// rounds are the outcomes so that each round has one of each message, in the
// order in which they come: an UPDATE does one of several that it joins. There
// is seldom more than one round.
func rounds(outcomes []webhook.Recorded) (all [][]webhook.Recorded) {
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

// outcomeRows are attempts, and the texts of those that left any. The first row
// of texts is for all that left none.
func outcomeRows(outcomes []webhook.Recorded) (rows [][]any, texts [][]string) {
	texts = [][]string{{"", ""}}
	for _, r := range outcomes {
		a, place := attemptOf(r), 0
		if a.detail != "" || a.answer != "" {
			place = len(texts)
			texts = append(texts, []string{a.detail, a.answer})
		}
		var code any
		if a.code != 0 {
			code = a.code
		}
		rows = append(rows, []any{a.message, a.number, a.guid, a.status, max(0, a.number-1), code, a.reason, place,
			absent(a.next), a.ended, a.duration})
	}
	return rows, texts
}

func (w *batchText) disabledRows(disabled []webhook.Disabled) [][]any {
	rows := make([][]any, len(disabled))
	for i, d := range disabled {
		rows[i] = []any{d.Subscription, w.escapes.text(readable(d.Reason, mostDisabled)), stamp(d.At)}
	}
	return rows
}

func healthRows(all []webhook.Health) [][]any {
	rows := make([][]any, len(all))
	for i, h := range all {
		rows[i] = []any{h.Subscription, absent(momentText(h.Since)), bit(h.Anew)}
	}
	return rows
}

func nudgeRows(all []webhook.Nudge) [][]any {
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
	return stamp(t)
}

func keyRows(keys []webhook.Key) [][]any {
	rows := make([][]any, len(keys))
	for i, k := range keys {
		rows[i] = []any{hex.EncodeToString(k.Hash[:]), hex.EncodeToString(k.Digest[:]), k.Event, k.Count, stamp(k.Until)}
	}
	return rows
}
