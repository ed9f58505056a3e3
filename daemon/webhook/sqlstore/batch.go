package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// The limits of texts that others have made, in bytes.
const (
	mostReason   = 256
	mostDetail   = 2000
	mostAnswer   = 4 << 10
	answerPieces = 3 // in which an answer reaches a server
	mostDisabled = 400
)

// shortAnswer is the length, in bytes, up to which an answer stays with its
// attempt: a reference to a text takes about as much.
const shortAnswer = 64

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
		{"AddedDateTime", moment, func(e *webhook.Event) any { return appdb.Timestamp(e.AddedAt) }},
		{"Body", beside, func(e *webhook.Event) any { return string(e.Body) }},
	}
	attemptColumns = columns[*attempt]{
		{"MessageID", number, func(a *attempt) any { return a.Message.ID }},
		{"Attempt", integer, func(a *attempt) any { return int64(a.After.Attempts) }},
		{"RecID", guid, func(a *attempt) any { return a.guid }},
		{"Status", small, func(a *attempt) any { return int64(a.After.Status) }},
		{"Retries", integer, func(a *attempt) any { return int64(a.After.Retries()) }},
		{"HTTPCode", integer, func(a *attempt) any {
			if a.Code == 0 {
				return nil
			}
			return int64(a.Code)
		}},
		{"Message", "nvarchar(256)", func(a *attempt) any { return readable(a.Reason(), mostReason) }},
		{"Detail", text, func(a *attempt) any { return appdb.NullIfEmpty(readable(a.Detail, mostDetail)) }},
		{"AnswerText", text, func(a *attempt) any { return appdb.NullIfEmpty(a.answer) }},
		{"Duration", number, func(a *attempt) any { return ticks(a.Took) }},
		{"LastSavedDateTime", moment, func(a *attempt) any { return a.ended() }},
		{"TextHash", "nvarchar(32)", func(a *attempt) any { return appdb.NullIfEmpty(a.hash) }},
	}
	// resultColumns are those of an attempt with what becomes of its message.
	resultColumns = append(attemptColumns[:len(attemptColumns):len(attemptColumns)],
		column[*attempt]{"NextAttemptDateTime", moment, func(a *attempt) any { return appdb.NullIfEmpty(dueText(a.After)) }})
	textColumns = columns[storedText]{
		{"TextHash", "nvarchar(32)", func(t storedText) any { return t.hash }},
		{"UsedDateTime", moment, func(t storedText) any { return t.used }},
		{"Size", integer, func(t storedText) any { return textSize(t.text) }},
		{"Text", text, func(t storedText) any { return t.text }},
	}
	disabledColumns = columns[delivery.Disabled]{
		{"ID", number, func(d delivery.Disabled) any { return d.Subscription }},
		{"DisabledReason", text, func(d delivery.Disabled) any { return readable(d.Reason, mostDisabled) }},
		{"LastSavedDateTime", moment, func(d delivery.Disabled) any { return appdb.Timestamp(d.At) }},
	}
	healthColumns = columns[delivery.Health]{
		{"ID", number, func(h delivery.Health) any { return h.Subscription }},
		{"FailingSince", moment, func(h delivery.Health) any { return appdb.NullIfEmpty(momentText(h.Since)) }},
		{"Anew", bit, func(h delivery.Health) any { return appdb.Bit(h.Replace) }},
	}
	keyColumns = columns[delivery.Key]{
		{"KeyHash", "nvarchar(64)", func(k delivery.Key) any { return hex.EncodeToString(k.Hash[:]) }},
		{"Digest", "nvarchar(64)", func(k delivery.Key) any { return hex.EncodeToString(k.Digest[:]) }},
		{"EventGUID", guid, func(k delivery.Key) any { return k.Event }},
		{"Messages", integer, func(k delivery.Key) any { return int64(k.Count) }},
		{"ExpiryDateTime", moment, func(k delivery.Key) any { return appdb.Timestamp(k.Until) }},
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

// attempt is an outcome with what is stored besides.
type attempt struct {
	webhook.AttemptResult
	guid   string
	answer string // for admins
	hash   string // that the answer is stored under; empty for a short one
}

func (a *attempt) ended() string { return appdb.Timestamp(a.Began.Add(a.Took)) }

func attemptsOf(outcomes []webhook.AttemptResult) []*attempt {
	made, all := make([]attempt, len(outcomes)), make([]*attempt, len(outcomes))
	for i, r := range outcomes {
		a := &made[i]
		*a = attempt{AttemptResult: r, guid: appdb.NewGUID(), answer: readable(string(r.Text), mostAnswer)}
		if len(a.answer) > shortAnswer {
			hash := sha256.Sum256([]byte(a.answer))
			a.hash = hex.EncodeToString(hash[:16])
		}
		all[i] = a
	}
	return all
}

// store takes an answer out of its attempt where that refers to it.
func (a *attempt) store() (t storedText, is bool) {
	if a.hash == "" {
		return t, false
	}
	t = storedText{a.hash, a.ended(), a.answer}
	a.answer = ""
	return t, true
}

// dueText is when the next attempt is due, empty for a message that is not
// open.
func dueText(s webhook.State) string {
	if !s.Status.Open() {
		return ""
	}
	return appdb.Timestamp(s.Next)
}

// readable is the beginning of a text of foreign origin, as every
// database keeps it: what is no UTF-8, and zero bytes, which servers refuse in
// JSON, are replaced.
func readable(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return appdb.Truncate(strings.ReplaceAll(text, "\x00", "\uFFFD"), most)
}

// deletion is a message that is to go, unless it has changed since it was
// looked at.
type deletion struct{ id, event, status, attempts int64 }

func deletionFields(d *deletion) []any { return []any{&d.id, &d.event, &d.status, &d.attempts} }

var deletionColumns = columns[deletion]{
	{"ID", number, func(d deletion) any { return d.id }},
	{"EventID", number, func(d deletion) any { return d.event }},
	{"Status", small, func(d deletion) any { return d.status }},
	{"Attempts", integer, func(d deletion) any { return d.attempts }},
}
