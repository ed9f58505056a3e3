package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Maximum lengths of foreign texts, in bytes.
const (
	maxReason         = 256
	maxDetail         = 2000
	responsePieces    = 3 // columns that a response is split into for SQL Server
	maxDisabledReason = 400
)

// maxInlineResponse is the length, in bytes, up to which a response is stored with
// its attempt: a reference would be about as large.
const maxInlineResponse = 64

// Columns of the rows in a batch, for both databases.
var (
	leaseColumns = columns[delivery.Lease]{
		{"PartitionID", number, func(l delivery.Lease) any { return l.Partition }},
		{"Fence", number, func(l delivery.Lease) any { return l.Fence }},
	}
	outboxColumns = columns[int64]{{"ID", number, func(id int64) any { return id }}}
	takenColumns  = columns[string]{{"EventGUID", guid, func(row string) any { return row }}}
	eventColumns  = columns[*webhook.Event]{
		{"EventID", number, func(e *webhook.Event) any { return e.ID }},
		{"RecID", guid, func(e *webhook.Event) any { return e.GUID }},
		{"EventName", text, func(e *webhook.Event) any { return e.Name }},
		{"AddedDateTime", dateTime, func(e *webhook.Event) any { return appdb.Timestamp(e.AddedAt) }},
		{keyColumn, text, func(e *webhook.Event) any { return appdb.NullIfEmpty(e.Key) }},
		{"Body", separate, func(e *webhook.Event) any { return string(e.Body) }},
	}
	attemptColumns = columns[*attempt]{
		{"MessageID", number, func(a *attempt) any { return a.Message.ID }},
		{"Attempt", integer, func(a *attempt) any { return int64(a.After.Attempts) }},
		{"RecID", guid, func(a *attempt) any { return a.guid }},
		{"Status", small, func(a *attempt) any { return int64(a.After.Status) }},
		{"Retries", integer, func(a *attempt) any { return int64(a.After.Retries()) }},
		{"HTTPCode", integer, func(a *attempt) any { return when(a.Code != 0, int64(a.Code)) }},
		{"Message", "nvarchar(256)", func(a *attempt) any { return sanitize(a.Reason(), maxReason) }},
		{"Detail", text, func(a *attempt) any { return appdb.NullIfEmpty(sanitize(a.Detail, maxDetail)) }},
		{"AnswerText", text, func(a *attempt) any { return appdb.NullIfEmpty(a.response) }},
		{"Duration", number, func(a *attempt) any { return ticks(a.Took) }},
		{"LastSavedDateTime", dateTime, func(a *attempt) any { return a.ended() }},
		{"TextHash", "nvarchar(32)", func(a *attempt) any { return appdb.NullIfEmpty(a.hash) }},
	}
	// resultColumns are the columns of an attempt, and the message's next attempt.
	resultColumns = append(attemptColumns[:len(attemptColumns):len(attemptColumns)],
		column[*attempt]{"NextAttemptDateTime", dateTime, func(a *attempt) any { return appdb.NullIfEmpty(dueText(a.After)) }})
	// movedColumns are those of an attempt at another URL than that of its message.
	movedColumns = columns[*attempt]{
		{"MessageID", number, func(a *attempt) any { return a.Message.ID }},
		{"Attempt", integer, func(a *attempt) any { return int64(a.After.Attempts) }},
		{"URL", text, func(a *attempt) any { return a.URL }},
	}
	textColumns = columns[storedText]{
		{"TextHash", "nvarchar(32)", func(t storedText) any { return t.hash }},
		{"UsedDateTime", dateTime, func(t storedText) any { return t.used }},
		{"Size", integer, func(t storedText) any { return textSize(t.text) }},
		{"Text", text, func(t storedText) any { return t.text }},
	}
	disabledColumns = columns[delivery.Disabled]{
		{"ID", number, func(d delivery.Disabled) any { return d.Subscription }},
		{"DisabledReason", text, func(d delivery.Disabled) any { return sanitize(d.Reason, maxDisabledReason) }},
		{"LastSavedDateTime", dateTime, func(d delivery.Disabled) any { return appdb.Timestamp(d.At) }},
	}
	healthColumns = columns[delivery.Health]{
		{"ID", number, func(h delivery.Health) any { return h.Subscription }},
		{"FailingSince", dateTime, func(h delivery.Health) any { return when(!h.Since.IsZero(), appdb.Timestamp(h.Since)) }},
		{"Overwrite", bit, func(h delivery.Health) any { return appdb.Bit(h.Replace) }},
	}
	keyColumns = columns[delivery.Key]{
		{"KeyHash", "nvarchar(64)", func(k delivery.Key) any { return hex.EncodeToString(k.Hash[:]) }},
		{"Digest", "nvarchar(64)", func(k delivery.Key) any { return hex.EncodeToString(k.Digest[:]) }},
		{"EventGUID", guid, func(k delivery.Key) any { return k.Event }},
		{"Messages", integer, func(k delivery.Key) any { return int64(k.Count) }},
		{"ExpiryDateTime", dateTime, func(k delivery.Key) any { return appdb.Timestamp(k.Until) }},
	}
	peerEventColumns = columns[delivery.PeerEvent]{
		{"SubscriptionID", number, func(n delivery.PeerEvent) any { return n.Subscription }},
		{"Kind", small, func(n delivery.PeerEvent) any { return int64(n.Kind) }},
	}
)

// messageUpdate is the SET list that an attempt applies to its message.
const messageUpdate = `Status = @Status, Attempts = @Attempt, NextAttemptDateTime = @NextAttemptDateTime, LastSavedDateTime = @LastSavedDateTime,
	HTTPCode = @HTTPCode, ResponseMessage = @Message`

// storedText is a response body that attempts refer to.
type storedText struct{ hash, used, text string }

// textSize returns the approximate size of a row with the text, in bytes.
func textSize(text string) int64 { return int64(len(text)) + 256 }

// attempt is a result with its stored values.
type attempt struct {
	webhook.AttemptResult
	guid     string
	response string // as shown to administrators
	hash     string // key of the stored text; empty for a short response
}

func (a *attempt) ended() string { return appdb.Timestamp(a.Began.Add(a.Took)) }

func attemptsOf(outcomes []webhook.AttemptResult) []*attempt {
	allocated := make([]attempt, len(outcomes))
	attempts := make([]*attempt, len(outcomes))
	for i, r := range outcomes {
		a := &allocated[i]
		*a = attempt{AttemptResult: r, guid: appdb.NewGUID(), response: sanitize(string(r.Text), webhook.MaxResponseText)}
		if len(a.response) > maxInlineResponse {
			hash := sha256.Sum256([]byte(a.response))
			a.hash = hex.EncodeToString(hash[:16])
		}
		attempts[i] = a
	}
	return attempts
}

// isMoved reports whether the attempt was made at another URL than that of its message.
func (a *attempt) isMoved() bool { return a.URL != "" && a.URL != a.Message.URL }

// extractText moves the response from the attempt to a storedText, if the attempt
// refers to it by hash.
func (a *attempt) extractText() (storedText, bool) {
	if a.hash == "" {
		return storedText{}, false
	}
	t := storedText{hash: a.hash, used: a.ended(), text: a.response}
	a.response = ""
	return t, true
}

// dueText returns when the next attempt is due; it is empty for a message that is
// not open.
func dueText(s webhook.State) string {
	if !s.Status.Open() {
		return ""
	}
	return appdb.Timestamp(storedDue(s.Next, s.Replay))
}

// sanitize truncates a foreign text and replaces bytes that some databases reject:
// invalid UTF-8 and zero bytes.
func sanitize(text string, maxBytes int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return appdb.Truncate(strings.ReplaceAll(text, "\x00", "\uFFFD"), maxBytes)
}

// deletion is a message to delete, unless it has changed since it was read.
type deletion struct{ id, event, status, attempts int64 }

func deletionFields(d *deletion) []any { return []any{&d.id, &d.event, &d.status, &d.attempts} }

var deletionColumns = columns[deletion]{
	{"ID", number, func(d deletion) any { return d.id }},
	{"EventID", number, func(d deletion) any { return d.event }},
	{"Status", small, func(d deletion) any { return d.status }},
	{"Attempts", integer, func(d deletion) any { return d.attempts }},
}
