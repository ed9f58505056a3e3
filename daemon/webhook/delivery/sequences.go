package delivery

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Limits of the sequences of queues.
const (
	maxSequences = 10_000 // of a queue: if there are more, later messages wait in the store
	minSequences = 64     // of a queue, even if all queues together have too many
	sequenceCost = 256    // approximate memory of a sequence in bytes
	maxBehind    = 15     // messages of a sequence in memory behind the first
)

// sequence has the open messages with one key in a queue that is ordered by key, of which
// only the first may be attempted. A message without a key is a sequence of its own. Since
// a queue reads its messages in order, the first one of a key that it reads is the first.
//
// With a shared store it may not be: messages of other daemons can become visible after
// later ones. There, each message is read by its key before it becomes the current one: a
// statement that returns it returns all that were published before it.
type sequence struct {
	key       string
	partition int64
	first     int64              // ID of the first message
	current   *webhook.Message   // the first message in memory; nil if it is only in the store
	behind    []*webhook.Message // that follow it, in memory
	rest      int64              // ID from which on messages are only in the store; 0 if there are none
	added     int64              // lowest ID left to the store while messages of the sequence are read; 0 for none
	due       time.Time          // of the first message if it is only in the store
}

// sequences are those of a queue that is ordered by key.
type sequences struct {
	q        *queue
	byKey    map[string]*sequence
	stored   []*sequence // without current, ordered by due time
	readNext bool        // the next page is of one of them if it is due, otherwise at the cursor
}

// sequenceKey returns the key of a message's sequence. Keys of events have no control
// characters.
func sequenceKey(m *webhook.Message) string {
	if m.Event.Key != "" {
		return m.Event.Key
	}
	return "\x00" + strconv.FormatInt(m.ID, 10)
}

// store lists a sequence with their first message only in the store.
func (all *sequences) store(s *sequence, due time.Time) {
	s.current, s.due = nil, due
	at := sort.Search(len(all.stored), func(i int) bool { return all.stored[i].due.After(due) })
	all.stored = slices.Insert(all.stored, at, s)
}

// unlist reverses store.
func (all *sequences) unlist(s *sequence) {
	if i := slices.Index(all.stored, s); i >= 0 {
		all.stored = slices.Delete(all.stored, i, i+1)
	}
}

// due returns a sequence with a first message that must be read now, nil if there is none.
func (all *sequences) due(now time.Time) *sequence {
	if len(all.stored) > 0 && !all.stored[0].due.After(now) {
		return all.stored[0]
	}
	return nil
}

// page returns the page of the messages of a sequence.
func (all *sequences) page(s *sequence, now time.Time, limit int) Page {
	s.added = 0
	p := Page{Partition: s.partition, Subscription: all.q.id, After: Position{ID: s.first - 1}, Until: now, InOrder: true, Limit: min(limit, 1+maxBehind), sequence: s}
	if s.key[0] == 0 {
		p.Limit = 1
		return p
	}
	p.Key = s.key
	if c := all.q.cursorOf(s.partition); all.q.shared && c != nil {
		p.After.ID, p.Limit = min(p.After.ID, c.safe.ID), min(limit, 2) // the second one shows that there are more
	}
	return p
}

// mustRead reports whether a message must be read by its key before it is attempted.
func (all *sequences) mustRead(m *webhook.Message) bool { return all.q.shared && m.Event.Key != "" }

// lowest returns the lower ID; 0 is none.
func lowest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// crowded reports whether the queue must have no more sequences.
func (all *sequences) crowded() bool {
	n := len(all.byKey)
	return n >= maxSequences || n >= minSequences && all.q.budget.sequences >= all.q.budget.maxSequences
}

// place adds a message that is not in memory to its sequence. Unless it is loaded, it stays
// in the store. It returns false if the queue is crowded.
func (all *sequences) place(m *webhook.Message, loaded bool) bool {
	key := sequenceKey(m)
	s := all.byKey[key]
	switch {
	case s == nil && all.crowded():
		return false
	case s == nil:
		s = &sequence{key: key, partition: m.Partition}
		all.byKey[key] = s
		all.q.budget.sequences++
	case m.ID > s.first:
		all.placeBehind(s, m, loaded)
		return true
	case m.ID < s.first && all.q.unsettled[s.first] != nil:
		all.leave(s, m.ID) // it is the next one
		return true
	case m.ID < s.first:
		if s.current != nil {
			all.q.window.unlist(s.current)
			all.q.budget.release(s.current)
		}
		all.leave(s, s.first)
	}
	all.placeFirst(s, m, loaded && !all.mustRead(m))
	return true
}

// placeFirst makes a message the first one of a sequence.
func (all *sequences) placeFirst(s *sequence, m *webhook.Message, loaded bool) {
	all.unlist(s)
	if s.first = m.ID; !loaded {
		all.store(s, m.Next)
		return
	}
	s.current = m
	all.q.track(m)
	all.q.window.list(m)
}

// placeBehind adds a message behind the first one of a sequence. It stays in the store if
// others before it do.
func (all *sequences) placeBehind(s *sequence, m *webhook.Message, loaded bool) {
	n := len(s.behind)
	if !loaded || all.mustRead(m) || s.current == nil || s.rest != 0 || n == maxBehind || n > 0 && m.ID < s.behind[n-1].ID || all.q.budget.tierOf(all.q).scarce() {
		all.leave(s, m.ID)
		return
	}
	all.q.track(m)
	s.behind = append(s.behind, m)
}

// leave leaves the messages of a sequence from an ID on to the store.
func (all *sequences) leave(s *sequence, id int64) {
	for n := len(s.behind) - 1; n >= 0 && s.behind[n].ID >= id; n-- {
		all.q.window.remove(s.behind[n])
		all.q.budget.release(s.behind[n])
		s.behind = slices.Delete(s.behind, n, n+1)
	}
	s.rest, s.added = lowest(s.rest, id), lowest(s.added, id)
}

// heads reports whether a message is the first one of its sequence.
func (all *sequences) heads(m *webhook.Message) (*sequence, bool) {
	if !all.q.byKey() {
		return nil, false
	}
	s := all.byKey[sequenceKey(m)]
	return s, s != nil && s.current == m
}

// unload leaves the messages behind the first one of a sequence to the store.
func (all *sequences) unload(s *sequence) {
	if len(s.behind) > 0 {
		all.leave(s, s.behind[0].ID)
	}
}

// suspend leaves a sequence to the store. If its first message has failed, the sequence
// waits until the next attempt is due. Otherwise it returns false, and the cursor must be
// moved back to the message.
func (all *sequences) suspend(s *sequence) bool {
	all.unload(s)
	if s.current.Status == webhook.RetryPending {
		all.store(s, s.current.Next)
		return true
	}
	all.forget(s)
	return false
}

// forget removes a sequence without messages in memory.
func (all *sequences) forget(s *sequence) {
	delete(all.byKey, s.key)
	all.q.budget.sequences--
}

// advance continues a sequence after its first message has ended. After a change of the
// order there can be others in flight.
func (all *sequences) advance(s *sequence) {
	s.current = nil
	for _, m := range all.q.unsettled {
		if sequenceKey(m) == s.key {
			s.first, s.current = m.ID, m
			return
		}
	}
	switch {
	case len(s.behind) > 0:
		s.current = pop(&s.behind)
		s.first = s.current.ID
		all.q.window.list(s.current)
	case s.rest != 0:
		s.first, s.rest = s.rest, s.rest+1
		all.store(s, time.Time{})
	default:
		all.forget(s)
	}
}

// end ends a message: the next one of its sequence may be attempted.
func (all *sequences) end(m *webhook.Message) {
	if s, is := all.heads(m); is {
		all.advance(s)
	}
}

// reset forgets the sequences, except that messages in flight remain the first.
func (all *sequences) reset() {
	all.q.budget.sequences -= len(all.byKey)
	all.byKey, all.stored = make(map[string]*sequence), nil
	if !all.q.byKey() {
		return
	}
	for _, m := range all.q.unsettled {
		if key := sequenceKey(m); all.byKey[key] == nil {
			all.byKey[key] = &sequence{key: key, partition: m.Partition, first: m.ID, current: m}
			all.q.budget.sequences++
		}
	}
}

// mayLoad reports whether a message of a page may be needed in memory now. ahead counts the
// messages of each sequence that precede it in the page.
func (all *sequences) mayLoad(m *webhook.Message, now time.Time, ahead map[string]int) bool {
	if !all.q.byKey() {
		return true
	}
	key := sequenceKey(m)
	s, n := all.byKey[key], ahead[key]
	needed := n <= maxBehind
	switch {
	case s != nil && s.current != nil:
		needed = m.ID < s.first || s.rest == 0 && len(s.behind)+n < maxBehind
	case n == 0:
		needed = (s == nil && !all.mustRead(m) || s != nil && m.ID <= s.first) && !m.Next.After(now)
	}
	if ahead[key]++; !needed {
		ahead[key] = 1 + maxBehind // nor those behind it
	}
	return needed
}

// add adds the messages of a sequence that were read.
func (all *sequences) add(p Page, messages []*webhook.Message, whole bool) {
	s := p.sequence
	if all.byKey[s.key] != s || s.current != nil || len(messages) == 0 && !whole {
		return
	}
	rest := s.added
	if !whole && p.Key != "" {
		rest = lowest(rest, messages[len(messages)-1].ID+1)
	}
	// SQL Server ignores spaces at the end of a key.
	messages = slices.DeleteFunc(messages, func(m *webhook.Message) bool { return sequenceKey(m) != s.key })
	all.unlist(s)
	s.first, s.rest = 0, 0
	for _, m := range messages {
		loaded := p.loaded(m) && all.q.budget.tierOf(all.q).fits(all.q.budget.cost(m))
		switch {
		case all.q.has(m.ID) || all.q.settledSinceRead[m.ID]:
		case s.first == 0:
			all.placeFirst(s, m, loaded)
		default:
			all.placeBehind(s, m, loaded)
		}
	}
	if rest != 0 {
		all.leave(s, rest)
	}
	if s.first == 0 {
		all.advance(s)
	}
}
