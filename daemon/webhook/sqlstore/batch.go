package sqlstore

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// The columns of what is in a batch, for both databases.
var (
	leaseColumns = columns[delivery.Lease]{
		{"PartitionID", number, func(l delivery.Lease) any { return l.Partition }},
		{"Fence", number, func(l delivery.Lease) any { return l.Fence }},
	}
	outboxColumns = columns[int64]{{"ID", number, func(id int64) any { return id }}}
	eventColumns  = columns[*webhook.Event]{
		{"EventID", number, func(e *webhook.Event) any { return e.ID }},
		{"RecID", guid, func(e *webhook.Event) any { return e.GUID }},
		{"EventName", text, func(e *webhook.Event) any { return e.Name }},
		{"AddedDateTime", moment, func(e *webhook.Event) any { return appdb.Stamp(e.AddedAt) }},
		{"Body", beside, func(e *webhook.Event) any { return string(e.Body) }},
	}
	attemptColumns = columns[*attempt]{
		{"MessageID", number, func(a *attempt) any { return a.message }},
		{"Attempt", integer, func(a *attempt) any { return int64(a.number) }},
		{"RecID", guid, func(a *attempt) any { return a.guid }},
		{"Status", small, func(a *attempt) any { return int64(a.status) }},
		{"Retries", integer, func(a *attempt) any { return int64(max(0, a.number-1)) }},
		{"HTTPCode", integer, func(a *attempt) any {
			if a.code == 0 {
				return nil
			}
			return int64(a.code)
		}},
		{"Message", "nvarchar(256)", func(a *attempt) any { return a.reason }},
		{"Detail", text, func(a *attempt) any { return appdb.NullIfEmpty(a.detail) }},
		{"AnswerText", text, func(a *attempt) any { return appdb.NullIfEmpty(a.answer) }},
		{"Duration", number, func(a *attempt) any { return a.duration }},
		{"LastSavedDateTime", moment, func(a *attempt) any { return a.ended }},
		{"TextHash", "nvarchar(32)", func(a *attempt) any { return appdb.NullIfEmpty(a.hash) }},
	}
	// resultColumns are those of an attempt with what becomes of its message.
	resultColumns = append(attemptColumns[:len(attemptColumns):len(attemptColumns)],
		column[*attempt]{"NextAttemptDateTime", moment, func(a *attempt) any { return appdb.NullIfEmpty(a.next) }})
	textColumns = columns[storedText]{
		{"TextHash", "nvarchar(32)", func(t storedText) any { return t.hash }},
		{"UsedDateTime", moment, func(t storedText) any { return t.used }},
		{"Size", integer, func(t storedText) any { return textSize(t.text) }},
		{"Text", text, func(t storedText) any { return t.text }},
	}
	disabledColumns = columns[delivery.Disabled]{
		{"ID", number, func(d delivery.Disabled) any { return d.Subscription }},
		{"DisabledReason", text, func(d delivery.Disabled) any { return readable(d.Reason, mostDisabled) }},
		{"LastSavedDateTime", moment, func(d delivery.Disabled) any { return appdb.Stamp(d.At) }},
	}
	healthColumns = columns[delivery.Health]{
		{"ID", number, func(h delivery.Health) any { return h.Subscription }},
		{"FailingSince", moment, func(h delivery.Health) any { return appdb.NullIfEmpty(momentText(h.Since)) }},
		{"Anew", bit, func(h delivery.Health) any { return appdb.Bit(h.Anew) }},
	}
	keyColumns = columns[delivery.Key]{
		{"KeyHash", "nvarchar(64)", func(k delivery.Key) any { return hex.EncodeToString(k.Hash[:]) }},
		{"Digest", "nvarchar(64)", func(k delivery.Key) any { return hex.EncodeToString(k.Digest[:]) }},
		{"EventGUID", guid, func(k delivery.Key) any { return k.Event }},
		{"Messages", integer, func(k delivery.Key) any { return int64(k.Count) }},
		{"ExpiryDateTime", moment, func(k delivery.Key) any { return appdb.Stamp(k.Until) }},
	}
	peerEventColumns = columns[delivery.PeerEvent]{
		{"SubscriptionID", number, func(n delivery.PeerEvent) any { return n.Subscription }},
		{"Kind", small, func(n delivery.PeerEvent) any { return int64(n.Kind) }},
	}
)

// becomes is what an attempt makes of its message.
const becomes = `Status = @Status, Attempts = @Attempt, NextAttemptDateTime = @NextAttemptDateTime, LastSavedDateTime = @LastSavedDateTime,
	HTTPCode = @HTTPCode, ResponseMessage = @Message`

// storedText is an answer that attempts refer to.
type storedText struct{ hash, used, text string }

// textSize is about what the row of a text takes.
func textSize(text string) int64 { return int64(len(text)) + 256 }

// On a server events have numbers, by which their bodies are found, and texts
// come in pieces, each short enough even if all of its characters are escaped.
var (
	numberedEvents = append(eventColumns[:len(eventColumns):len(eventColumns)], column[*webhook.Event]{"N", integer, nil})
	textPieces     = newTextPieces()
)

func newTextPieces() columns[storedText] {
	all := textColumns[: len(textColumns)-1 : len(textColumns)-1]
	for i := range answerPieces {
		all = append(all, column[storedText]{fmt.Sprint("Text", i+1), text, func(t storedText) any { return piece(t.text, i) }})
	}
	return all
}

func piece(text string, i int) string {
	const most = 2000
	for range i {
		text = text[len(appdb.Truncate(text, most)):]
	}
	return appdb.Truncate(text, most)
}

// batchText collects the statement of a batch for a server, and its arguments:
// rows as JSON for OPENJSON, and the bodies of events beside them. Babelfish cuts
// texts that come out of OPENJSON at 4,000 characters, and leaves their escapes
// in.
type batchText struct {
	statement strings.Builder
	args      []any
	escapes   escapes
}

// serverBatch is the statement of a batch, with the parts that it needs. A batch
// without rows only checks leases and version: SQL Server takes no empty block.
//
// The arguments are at most webhook.MaxBatchEvents and one for each kind of rows,
// while a call takes 2,100.
func serverBatch(b *delivery.Batch, holder sql.NamedArg) (string, []any) {
	w := &batchText{}
	w.rows("Leases", leaseColumns.encode(b.Leases, &w.escapes))
	w.arg("LeaseCount", len(b.Leases))
	w.arg("Version", b.Version)
	if len(b.Outbox) > 0 {
		part(w, serverOutbox, "Outbox", outboxColumns, b.Outbox)
		w.arg("OutboxCount", len(b.Outbox))
		w.arg("OutboxLast", slices.Max(b.Outbox))
	}
	if len(b.Events) > 0 {
		part(w, w.withBodies(serverEvents, b.Events), "Events", numberedEvents, b.Events)
	}
	part(w, serverMessages, "Messages", messageColumns, b.Messages)
	w.outcomes(b.Outcomes)
	if len(b.Disabled) > 0 {
		part(w, serverDisabled, "Disabled", disabledColumns, b.Disabled)
		w.arg("RowHash", newRowHash())
	}
	part(w, serverHealth, "Health", healthColumns, b.Health)
	if len(b.Changes) > 0 {
		w.statement.WriteString(serverChanges)
		w.arg("Home", b.Home)
		w.arg("Number", b.Number)
		w.rows("Changes", []byte(changesText(b)))
	}
	part(w, serverKeys, "Keys", keyColumns, b.Keys)
	part(w, serverPeerEvents, "PeerEvents", peerEventColumns, b.PeerEvents)
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

func (w *batchText) rows(name string, json []byte) { w.arg(name, mssql.Document(json)) }

// part adds a statement for rows, if there are any.
func part[T any](w *batchText, statement, name string, c columns[T], all []T) {
	if len(all) > 0 {
		w.statement.WriteString(statement)
		w.rows(name, c.encode(all, &w.escapes))
	}
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

// outcomes adds what came of attempts, in rounds that each have one of each
// message, in the order in which they come: an UPDATE does one of several that it
// joins. There is seldom more than one round.
func (w *batchText) outcomes(outcomes []webhook.AttemptResult) {
	var rounds [][]*attempt
	var stored []storedText
	turns, known := make(map[int64]int, len(outcomes)), make(map[string]bool)
	for _, r := range outcomes {
		a := attemptOf(r)
		if t, is := a.store(); is && !known[t.hash] {
			known[t.hash] = true
			stored = append(stored, t)
		}
		turn := turns[a.message]
		turns[a.message]++
		if turn == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[turn] = append(rounds[turn], a)
	}
	for i, round := range rounds {
		name := fmt.Sprintf("Outcomes%d", i+1)
		part(w, strings.ReplaceAll(serverOutcomes, "@Outcomes", "@"+name), name, resultColumns, round)
	}
	part(w, serverTextRows, "Texts", textPieces, stored)
}
