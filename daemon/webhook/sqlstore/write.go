package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
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

// Write is delivery.Store's. What is there already, by its number, stays as it
// is: a batch may be written again where nobody knows what became of it.
func (w *Store) Write(ctx context.Context, b delivery.Batch) error {
	b.Leases = distinct(b.Leases)
	switch {
	case !covered(&b):
		return delivery.ErrFenced
	case clash(b.Keys):
		return delivery.ErrKeyTaken
	}
	err := engineError(w.writer.write(ctx, &b))
	for _, known := range []error{delivery.ErrStale, delivery.ErrFenced, delivery.ErrKeyTaken, delivery.ErrOutboxTaken} {
		if errors.Is(err, known) {
			return known
		}
	}
	return w.fault(err, "writing events and outcomes")
}

// distinct are the leases by partition: all who lock several rows do so in one
// order.
func distinct(leases []delivery.Lease) []delivery.Lease {
	leases = slices.Clone(leases)
	slices.SortFunc(leases, func(a, b delivery.Lease) int { return cmp.Compare(a.Partition, b.Partition) })
	return slices.CompactFunc(leases, func(a, b delivery.Lease) bool { return a.Partition == b.Partition && a.Fence == b.Fence })
}

// covered reports whether the batch names the leases of all that it touches.
// New messages may go to another daemon's partition, if it is told so.
func covered(b *delivery.Batch) bool {
	held, told := make(map[int64]bool), make(map[int64]bool)
	for _, l := range b.Leases {
		held[l.Partition] = true
	}
	for _, n := range b.PeerEvents {
		told[n.Subscription] = true
	}
	for _, m := range b.Messages {
		if !held[m.Partition] && !told[m.Subscription] {
			return false
		}
	}
	for _, r := range b.Outcomes {
		if !held[r.Message.Partition] {
			return false
		}
	}
	return true
}

// clash reports whether two events of a batch have the same key.
func clash(keys []delivery.Key) bool {
	seen := make(map[[32]byte]bool, len(keys))
	for _, k := range keys {
		if seen[k.Hash] {
			return true
		}
		seen[k.Hash] = true
	}
	return false
}

// attempt is an outcome as it is stored.
type attempt struct {
	message  int64
	number   int // of the message's attempts
	guid     string
	status   webhook.Status
	code     int    // 0 for none
	reason   string // for everybody
	detail   string // for admins
	answer   string // for admins
	hash     string // that the answer is stored under; empty for a short one
	next     string // empty where no other attempt follows
	ended    string
	duration int64
}

func attemptOf(r webhook.AttemptResult) *attempt {
	a := &attempt{
		message: r.Message.ID, number: r.After.Attempts, guid: appdb.NewGUID(), status: r.After.Status,
		code: r.Code, reason: readable(r.Reason(), mostReason),
		detail: readable(r.Detail, mostDetail), answer: readable(string(r.Text), mostAnswer),
		next: dueText(r.After), ended: appdb.Stamp(r.Began.Add(r.Took)), duration: ticks(r.Took),
	}
	if len(a.answer) > shortAnswer {
		hash := sha256.Sum256([]byte(a.answer))
		a.hash = hex.EncodeToString(hash[:16])
	}
	return a
}

// store takes an answer out of its attempt where that refers to it.
func (a *attempt) store() (t storedText, is bool) {
	if a.hash == "" {
		return t, false
	}
	t = storedText{a.hash, a.ended, a.answer}
	a.answer = ""
	return t, true
}

// dueText is when the next attempt is due, empty for a message that is not
// open.
func dueText(s webhook.State) string {
	if !s.Status.Open() {
		return ""
	}
	return appdb.Stamp(s.Next)
}

// readable is the beginning of a text that somebody else has made, as every
// database keeps it: what is no UTF-8, and zero bytes, which servers refuse in
// JSON, are replaced.
func readable(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return appdb.Truncate(strings.ReplaceAll(text, "\x00", "\uFFFD"), most)
}

// Key is delivery.Store's.
func (w *Store) Key(ctx context.Context, hash [32]byte) (*delivery.Key, error) {
	k, err := appdb.QueryOne(ctx, w.own, scanIdempotencyKey, `SELECT KeyHash, Digest, EventGUID, Messages, ExpiryDateTime FROM whd.WH_IdempotencyKey
WHERE KeyHash = @Hash AND ExpiryDateTime > `+w.own.Clock(), sql.Named("Hash", hex.EncodeToString(hash[:])))
	return k, w.fault(err, "finding an idempotency key")
}

func scanIdempotencyKey(row appdb.Row) (k delivery.Key, err error) {
	var hash, digest string
	if err := row.Scan(&hash, &digest, &k.Event, &k.Count, (*appdb.Time)(&k.Until)); err != nil {
		return k, err
	}
	_, badHash := hex.Decode(k.Hash[:], []byte(hash))
	_, badDigest := hex.Decode(k.Digest[:], []byte(digest))
	return k, errors.Join(badHash, badDigest)
}
